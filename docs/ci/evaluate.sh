#!/bin/sh
# Measures what DevMind finds in a repository, and holds it to a baseline. Runs in any continuous integration.
#
#   sh evaluate.sh baseline   writes the baseline: once, and whenever the questions or an accepted result change
#   sh evaluate.sh            exit 0: passed, 1: a limit was missed, 2: nothing could be judged
#
# Expects, and may be told by the environment:
REPO="${REPO:-.}"                                    # the repository that the questions are about
NAME="${NAME:-$(basename "$(cd "$REPO" && pwd)")}"   # what the questions call it (their field "repo")
DATASET="${DATASET:-evaluation/topics.jsonl}"        # the questions
BASELINE="${BASELINE:-evaluation/baseline.jsonl}"    # kept under version control, beside the questions
OUT="${OUT:-.evaluation}"                            # results; keep it out of version control
TARGET="${TARGET:-devmind}"                          # any target of docs/evaluation-targets.md

set -eu
mkdir -p "$OUT"

# The questions must not be found instead of their answers: they and the results stay out of the index.
devmind -q --kb "$OUT/kb" add "$REPO" --name "$NAME" --exclude "$(dirname "$DATASET")/**" --exclude "$OUT/**"
devmind --kb "$OUT/kb" eval run "$DATASET" --target "$TARGET" --source "$REPO" --out "$OUT/run" --fresh

if [ "${1:-}" = baseline ]; then
    exec devmind eval gate "$OUT/run" --write-baseline --baseline "$BASELINE"
fi

# How far each measure may fall. A miss needs the whole 95 % interval of the difference below it.
verdict=0
devmind eval gate "$OUT/run" --baseline "$BASELINE" \
    --allow 'nDCG@10=0.02' --allow 'Recall@10=0.02' --allow 'file Recall@10=0.02' \
    --junit "$OUT/gate.xml" --md "$OUT/gate.md" || verdict=$?

# The report is made whatever the verdict: it shows which questions were lost.
devmind eval report "$OUT/run" --dataset "$DATASET" --source "$REPO" \
    --html "$OUT/report.html" --json-file "$OUT/report.json" --md "$OUT/report.md" --junit "$OUT/topics.xml"

exit "$verdict"
