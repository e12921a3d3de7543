#!/usr/bin/env python3
"""Each lint finds what it exists for, and passes a clean tree."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
RESULT = ('{"schema":1,"what":"w","kind":"measured","date":"d","commit":"c","machine":"m","gpu":null,"versions":{},'
          '"command":"x","rows":[{"workload":"chain","regime":"training","arm":"a","unit":"ns","n":3,'
          '"median":2,"low":1,"high":3}]}')


class Lints(unittest.TestCase):
    def run_lint(self, lint, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            ran = subprocess.run([sys.executable, HERE / f"{lint}.py", "--root", root], capture_output=True, text=True)
        if ran.returncode == 77:
            self.skipTest(ran.stdout.strip())
        self.assertIn(ran.returncode, (0, 1), ran.stdout + ran.stderr)
        return ran.returncode, ran.stdout

    def assert_finds(self, lint, files, text):
        code, out = self.run_lint(lint, files)
        self.assertEqual(code, 1, out)
        self.assertIn(text, out)

    def assert_clean(self, lint, files):
        code, out = self.run_lint(lint, files)
        self.assertEqual(code, 0, out)

    def test_line_budget_counts_a_function_from_its_head_to_its_brace(self):
        body = "  a = f(\"{\");\n" * 58
        self.assert_clean("line_budget", {"a.cc": "namespace n {\nint F(int a) {\n" + body + "}\n}\n"})
        self.assert_finds("line_budget", {"a.cc": "namespace n {\nint F(int a) {\n" + body + "  // }\n}\n}\n"},
                          "F has 61 lines")

    def test_line_budget_sees_methods_constructors_and_lambdas_at_their_function(self):
        body = "  if (x) {\n  }\n" * 30
        for head in ("class A {\n void M() const override {\n", "struct B { B() : a_(1), b_({2}) {\n",
                     "struct C {\nstd::map<int, int> G(std::vector<int> v) {\n"):
            self.assert_finds("line_budget", {"a.h": head + body + "}\n};\n"}, "has 6")

    def test_line_budget_lets_tables_be_long(self):
        self.assert_clean("line_budget", {"a.cc": "constexpr int kTable[] = {\n" + "  1,\n" * 200 + "};\n"})

    def test_line_budget_refuses_a_long_file_and_a_needless_allowance(self):
        self.assert_finds("line_budget", {"a.h": "int a;\n" * 601}, "601")
        self.assert_finds("line_budget", {"a.h": "int a;\n", "tests/lint/allow.txt": "a.h F long switch\n"},
                          "needs no allowance")

    def test_registered_tests_finds_the_forgotten_the_missing_and_the_switched_off(self):
        tree = {"tests/unit/a/CMakeLists.txt": "blazed_test(NAME a SRCS a_test.cc)\n", "tests/unit/a/a_test.cc": ""}
        self.assert_clean("registered_tests", tree)
        self.assert_finds("registered_tests", tree | {"tests/unit/a/b_test.cc": ""}, "b_test.cc: is not registered")
        self.assert_finds("registered_tests", {"tests/unit/a/CMakeLists.txt": "x(SRCS c_test.cc)\n"}, "names c_test.cc")
        off = tree | {"tests/unit/a/a_test.cc": "TEST(A, DISABLED_Works) {}\n"}
        self.assert_finds("registered_tests", off, "switched off")
        out = tree | {"tests/unit/a/a_test.cc": "// TEST(A, Works) {}\n"}
        self.assert_finds("registered_tests", out, "commented out")

    def test_words_finds_the_unfinished_and_the_machine(self):
        self.assert_finds("words", {"a.cc": "// TODO: more\n"}, "TODO")
        self.assert_finds("words", {"a.md": "It currently works.\n"}, "currently")
        self.assert_finds("words", {"a.sh": "cat /home/someone/x\n"}, "/home/s")
        self.assert_clean("words", {"a.cc": "auto stub = Tuner::NewStub(channel);  // a client\n"})

    def test_include_direction_keeps_the_planner_pure(self):
        path = "daemon/planner/race.cc"
        self.assert_clean("include_direction", {path: '#include <vector>\n#include "daemon/planner/types.h"\n'})
        self.assert_finds("include_direction", {path: "#include <thread>\n"}, "<thread>")
        self.assert_finds("include_direction", {path: '#include "absl/status/status.h"\n'}, "only itself")
        self.assert_finds("include_direction", {path: "auto t = std::chrono::steady_clock::now();\n"}, "steady_clock")

    def test_include_direction_stops_proto_types_at_rpc(self):
        include = '#include "blazed/v1/plan.pb.h"\n'
        self.assert_clean("include_direction", {"daemon/rpc/convert.h": include})
        self.assert_finds("include_direction", {"storage/store.h": include}, "stop at daemon/rpc")
        self.assert_finds("include_direction", {"client/cpp/src/a.cc": "#include <grpcpp/grpcpp.h>\n"}, "libblazed")
        self.assert_finds("include_direction", {"storage/a.h": '#include "daemon/rpc/caller.h"\n'}, "may see only")

    def test_include_direction_compares_readme_and_build_order(self):
        build = {"daemon/CMakeLists.txt": "add_subdirectory(base)\nadd_subdirectory(session)\n"}
        self.assert_clean("include_direction", build | {"daemon/README.md": "`base` then `session`\n"})
        self.assert_finds("include_direction", build | {"daemon/README.md": "`session` then `base`\n"}, "another order")

    def test_doc_links_finds_dead_files_and_headings(self):
        self.assert_clean("doc_links", {"a.md": "# One thing\n[x](#one-thing) [y](b.md#two)\n", "b.md": "## Two\n"})
        self.assert_finds("doc_links", {"a.md": "[x](c.md)\n"}, "no such file")
        self.assert_finds("doc_links", {"a.md": "[x](#nowhere)\n"}, "no such heading")
        self.assert_finds("doc_links", {"a.md": "see `daemon/rpc/gone.h`\n"}, "no such file")

    def test_doc_figures_traces_each_marker(self):
        good = {"docs/results/a.json": RESULT, "docs/m.md": "40 ns [measured: results/a.json]\n"}
        self.assert_clean("doc_figures", good)
        self.assert_finds("doc_figures", {"docs/m.md": "40 ns [measured: results/b.json]\n"}, "no such result")
        self.assert_finds("doc_figures", good | {"docs/m.md": "4 [derived: results/a.json]\n"}, "is measured")
        self.assert_finds("doc_figures", {"docs/results/a.json": RESULT.replace('"low":1', '"low":9')}, "outside")
        self.assert_finds("doc_figures", {"docs/results/a.json": RESULT.replace('"low":1', '"low":null')}, "low is no number")
        self.assert_finds("doc_figures", {"docs/results/a.json": RESULT.replace("measured", "guessed")}, "kind must be one of")
        self.assert_clean("doc_figures", {"docs/results/a.json": RESULT.replace("measured", "simulated"),
                                          "docs/m.md": "2 [simulated: results/a.json]\n"})

    def test_doc_figures_looks_each_number_of_a_marked_cell_up(self):
        result = (RESULT.replace('"median":2,"low":1,"high":3', '"median":2.0449,"low":-0.0757,"high":23456.7')
                  .replace('"n":3', '"n":3,"samples":[4000,0,7]'))

        def page(cell):
            return {"docs/results/a.json": result, "docs/m.md": f"| 99 of 7 | {cell} [measured: results/a.json] | 8 |\n"}

        for sound in ("2 ns", "2.04", "2.045 ns (-0.0757 to 23,457; n 3), **missed**", "2.3457e+04", "4,007 of `5`", "H200, unit_2_8"):
            self.assert_clean("doc_figures", page(sound))
        for wrong in ("2.05", "2.046", "0.0757", "23,456", "4,008", "2.3456e+04", "2 of 50"):
            self.assert_finds("doc_figures", page(wrong), "is in no row of docs/results/a.json")

    def test_packages_compares_both_lists(self):
        listed = {"deploy/debian-packages.txt": "[build]\ng++  # compiler\n"}
        self.assert_clean("packages", listed | {"docs/dependencies.md": "| package | why |\n| `g++` | compiler |\n"})
        self.assert_finds("packages", listed | {"docs/dependencies.md": "none\n"}, "has no row for g++")

    def test_releases_compares_the_table_of_versions_and_the_gate(self):
        def tree(tuned="2.1.0\n", page="# P\n\n## Versions\n\n| PyTorch | tests |\n| --- | --- |\n| 2.1.0 | all |\n", gate="2.1.0"):
            return {"client/python/blazed/torch/releases.txt": tuned, "docs/pytorch.md": page,
                    ".ci/run": f"./run test --torch {gate} 2>&1\n"}

        self.assert_clean("releases", tree())
        self.assert_finds("releases", tree(tuned="2.1.0\n2.2.0\n"), "has no row for 2.2.0")
        self.assert_finds("releases", tree(tuned="2.2.0\n"), "names 2.1.0, which")
        self.assert_finds("releases", tree(page="# P\n\n| 2.1.0 | x |\n\n## Versions\n\nNone.\n"), "has no row for 2.1.0")
        self.assert_finds("releases", tree(gate="2.3.0"), "tests with 2.3.0, which")

    def test_commands_compares_page_and_program(self):
        source = {"client/blazectl/command_line.cc": 'AddVerb(app, o, Verb::kStatus, "status", "x"); f("--json");\n'}
        page = "### `status`\n--json --help --version\n"
        self.assert_clean("commands", source | {"docs/blazectl.md": page})
        self.assert_finds("commands", source | {"docs/blazectl.md": page + "--frob\n"}, "names --frob")
        self.assert_finds("commands", source | {"docs/blazectl.md": "--json --help --version\n"}, "no section")

    def test_python_imports_keeps_the_package_to_the_standard_library_of_3_9(self):
        place = "client/python/blazed/"
        self.assert_clean("python_imports", {place + "a.py": "import ctypes\nfrom . import b\nfrom blazed import c\n",
                                             place + "torch/a.py": "import torch._dynamo\n", "d.py": "import numpy\n"})
        self.assert_finds("python_imports", {place + "a.py": "def f():\n    import torch\n"}, "a.py:2: imports torch")
        self.assert_finds("python_imports", {place + "torch/a.py": "from numpy import array\n"}, "imports numpy")
        self.assert_finds("python_imports", {place + "a.py": "match x:\n  case 1: pass\n"}, "is no Python 3.9")

    def test_format_finds_a_source_in_another_format(self):
        style = {".clang-format": "BasedOnStyle: Google\n"}
        self.assert_clean("format", style | {"a.cc": "int F() { return 1; }\n"})
        self.assert_finds("format", style | {"a.cc": "int  F(){return 1;}\n"}, "house format")

    def test_scripts_finds_what_shellcheck_finds(self):
        self.assert_clean("scripts", {"a.sh": "#!/usr/bin/env bash\nset -euo pipefail\necho \"$1\"\n"})
        self.assert_finds("scripts", {"a.sh": "#!/usr/bin/env bash\nset -euo pipefail\nrm $1\n"}, "SC2086")


if __name__ == "__main__":
    unittest.main()
