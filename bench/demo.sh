#!/bin/sh
# Index a real repository (the installed package `rich`, so no network is needed) and ask about it in two languages.
set -eu
: "${BIN:=.venv/bin}" "${KB:=.demo/kb}"

SOURCE=$("$BIN/python" -c 'import pathlib, rich; print(pathlib.Path(rich.__file__).parent)')

run() {
    printf '\n$ devmind'
    for arg in "$@"; do
        case $arg in *' '* | *[!\ -~]*) printf " '%s'" "$arg" ;; *) printf ' %s' "$arg" ;; esac
    done
    printf '\n'
    "$BIN/devmind" --kb "$KB" "$@" || [ $? -eq 1 ] # 1: refused, which is a result
}

run add "$SOURCE" --name rich
run ask 'How are the widths of the columns of a table calculated?'
run ask 'Where are control codes stripped from text?'
run ask '进度条如何估计剩余时间?'
run ask '控制台在哪里检测终端支持的颜色?'
