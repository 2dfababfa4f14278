"""A path (and a look at the text) → the name of its language."""

from __future__ import annotations

import re

_BY_EXTENSION = {
    extension: language
    for language, extensions in {
        "python": "py pyi pyw pyx pxd wsgi bzl star", "javascript": "js mjs cjs jsx es6", "typescript": "ts mts cts",
        "tsx": "tsx", "vue": "vue", "svelte": "svelte", "go": "go", "java": "java", "kotlin": "kt kts",
        "scala": "scala sc sbt", "c": "c", "cpp": "cc cpp cxx c++ hpp hh hxx h++ inl ipp tpp cu cuh ino",
        "csharp": "cs csx", "rust": "rs", "ruby": "rb rake gemspec ru podspec", "php": "php phtml php5",
        "swift": "swift",
        "bash": "sh bash zsh ksh bats", "fish": "fish", "powershell": "ps1 psm1 psd1", "batch": "bat cmd", "lua": "lua",
        "haskell": "hs lhs", "elixir": "ex exs", "erlang": "erl hrl", "zig": "zig zon", "sql": "sql ddl dml",
        "html": "html htm xhtml jinja j2 jinja2 hbs ejs", "css": "css", "scss": "scss sass less",
        "json": "json jsonc json5 jsonl ndjson geojson webmanifest ipynb", "yaml": "yaml yml", "toml": "toml",
        "xml": "xml xsd xsl xslt svg plist csproj vbproj fsproj props targets wsdl rss resx",
        "markdown": "md markdown mdx mkd", "rst": "rst", "proto": "proto", "graphql": "graphql gql graphqls",
        "ini": "ini cfg conf properties desktop service editorconfig", "make": "mk mak", "cmake": "cmake",
        "dockerfile": "dockerfile", "perl": "pl pm t", "r": "r rmd", "dart": "dart", "groovy": "groovy gradle",
        "clojure": "clj cljs cljc edn", "fsharp": "fs fsi fsx", "ocaml": "ml mli", "julia": "jl", "nim": "nim",
        "crystal": "cr", "d": "d", "vb": "vb", "pascal": "pas pp", "fortran": "f f90 f95 f03 for", "lisp": "lisp el cl",
        "scheme": "scm rkt", "solidity": "sol", "terraform": "tf tfvars hcl", "nix": "nix", "tcl": "tcl", "vim": "vim",
        "assembly": "s asm", "verilog": "v sv vh", "vhdl": "vhd vhdl", "objc": "mm", "thrift": "thrift", "awk": "awk",
        "tex": "tex sty bib", "asciidoc": "adoc asciidoc", "org": "org", "csv": "csv tsv", "diff": "diff patch",
        "text": "txt text log",
    }.items()
    for extension in extensions.split()
}  # fmt: skip
_BY_NAME = {
    "dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "make", "gnumakefile": "make",
    "cmakelists.txt": "cmake", "gemfile": "ruby", "rakefile": "ruby", "podfile": "ruby", "vagrantfile": "ruby",
    "guardfile": "ruby", "fastfile": "ruby", "brewfile": "ruby", "jenkinsfile": "groovy", "build": "python",
    "build.bazel": "python", "workspace": "python", "sconstruct": "python", "sconscript": "python", "justfile": "make",
    "pipfile": "toml", "go.mod": "text", "procfile": "yaml", ".bashrc": "bash", ".bash_profile": "bash",
    ".zshrc": "bash",
    ".profile": "bash", ".envrc": "bash", "pkgbuild": "bash", ".babelrc": "json", ".eslintrc": "json",
    ".prettierrc": "json", ".clang-format": "yaml", ".clang-tidy": "yaml", ".editorconfig": "ini", ".gitconfig": "ini",
    ".gitmodules": "ini", ".flake8": "ini", ".pylintrc": "ini", ".npmrc": "ini", ".pypirc": "ini", ".coveragerc": "ini",
    ".vimrc": "vim",
}  # fmt: skip
_BY_INTERPRETER = {
    "python": "python", "pypy": "python", "sh": "bash", "bash": "bash", "dash": "bash", "zsh": "bash", "ksh": "bash",
    "ash": "bash", "node": "javascript", "nodejs": "javascript", "bun": "typescript", "deno": "typescript",
    "ts-node": "typescript", "tsx": "typescript", "ruby": "ruby", "perl": "perl", "php": "php", "lua": "lua",
    "luajit": "lua", "elixir": "elixir", "escript": "erlang", "runhaskell": "haskell", "stack": "haskell",
    "swift": "swift", "scala": "scala", "kotlin": "kotlin", "groovy": "groovy", "make": "make", "fish": "fish",
    "pwsh": "powershell", "rscript": "r", "awk": "awk", "gawk": "awk", "tclsh": "tcl", "julia": "julia", "dart": "dart",
}  # fmt: skip
_SHEBANG = re.compile(r"^#!\s*(?:\S*/)?env(?:\s+-\S+|\s+\w+=\S*)*\s+(?:\S*/)?([\w.+-]+)|^#!\s*(?:\S*/)?([\w.+-]+)")
_CPP = re.compile(
    r"^\s*(?:(?:template\s*<|namespace\b|using\s+\w|(?:public|private|protected)\s*(?:\w+\s*)?:|class\s+\w+[^;]*$)"
    r"|#\s*include\s*<[a-z_]+>)|\bstd::|\b(?:constexpr|noexcept|nullptr|virtual|override)\b|\boperator\s*[=<>+\-*(\[]",
    re.MULTILINE,
)
_OBJC = re.compile(r"^\s*(?:@(?:interface|implementation|protocol|class|import|property)\b|#\s*import\b)", re.MULTILINE)
_PERL = re.compile(r"^\s*(?:use\s+(?:strict|warnings|\w+::|v?5)|package\s+\w|my\s+[$@%]|sub\s+\w)", re.MULTILINE)
_PROLOG = re.compile(r"^\s*:-|^[a-z]\w*\(.*\)\s*:-", re.MULTILINE)


def language_of(path: str, first_line: str = "", sample: str = "") -> str:
    """Return the language by name, extension, shebang; ``sample`` (the head of the text) settles shared extensions."""
    name = path.rpartition("/")[2]
    lower = name.lower()
    if language := _BY_NAME.get(lower):
        return language
    stem, dot, extension = lower.rpartition(".")
    if lower.startswith(("dockerfile.", "containerfile.")):
        return "dockerfile"
    if lower.startswith("makefile."):
        return "make"
    if extension in ("in", "tmpl", "tpl", "template", "dist", "example", "sample") and "." in stem.lstrip("."):
        return language_of(stem, first_line, sample)
    if dot and (language := _by_extension(extension, name, sample or first_line)):
        return language
    if first_line.startswith("#!") and (match := _SHEBANG.match(first_line)):
        interpreter = (match[1] or match[2]).lower()
        for key in (interpreter, interpreter.rstrip("0123456789.")):
            if language := _BY_INTERPRETER.get(key):
                return language
    if first_line.startswith("<?xml"):
        return "xml"
    return "text"


def _by_extension(extension: str, name: str, sample: str) -> str | None:
    if extension == "h":
        if _OBJC.search(sample):
            return "objc"
        return "cpp" if _CPP.search(sample) else "c"
    if extension == "c" and name.endswith(".C"):
        return "cpp"
    if extension == "m":
        return "objc" if _OBJC.search(sample) or "#include" in sample else "matlab"
    if extension == "ts" and sample.lstrip().startswith(("<?xml", "<!DOCTYPE TS")):
        return "xml"
    if extension in ("pl", "t") and not _PERL.search(sample) and _PROLOG.search(sample):
        return "prolog"
    if extension == "v" and re.search(r"^(?:Require|Theorem|Lemma|Definition)\b", sample, re.MULTILINE):
        return "coq"
    return _BY_EXTENSION.get(extension)
