"""Answers → how good they are: cosines and what they diagnose, a judge, statements against what they cite, people.

`devmind.evaluate.answers.score.score_answers` measures a whole run. Nothing here asks the system under measurement.
"""
