#!/usr/bin/env python3
"""The package's structures, functions and numbers are those of blazed.h, as a C compiler sees it."""
import ctypes
import re
import tempfile
import unittest

import compiled
from blazed import abi, enums, modes, version

HEADER = (compiled.ROOT / "client/cpp/include/blazed/blazed.h").read_text(encoding="utf-8")
STRUCTURES = {"blz_tensor": abi.Tensor, "blz_choice": abi.Choice, "blz_built": abi.Built, "blz_host_ops": abi.HostOps,
              "blz_quiet": abi.Quiet, "blz_label": abi.Label, "blz_options": abi.Options, "blz_graph": abi.Graph, "blz_decision": abi.Decision,
              "blz_workload": abi.Workload, "blz_status_info": abi.StatusInfo, "blz_kernel": abi.Kernel,
              "blz_step_kernels": abi.StepKernels}
NUMBERS = {"BLZ_CONTRACT_": enums.Contract, "BLZ_MODE_": modes.Mode, "BLZ_REGIME_": enums.Regime,
           "BLZ_STEP_": enums.StepFlag, "BLZ_BUILD_": enums.BuildResult, "BLZ_LOG_": enums.LogLevel,
           "BLZ_KERNEL_": enums.KernelFact, "BLZ_TOTAL_": enums.TotalFact, "BLZ_STATE_": enums.State, "BLZ_PHASE_": enums.Phase, "BLZ_SETTLEMENT_": enums.Settlement}
# Without a word of their own between BLZ_ and the name.
PLAIN = (enums.Result, enums.DecisionKind, enums.Dtype, enums.Role)


def compiled_numbers(expressions):
    """name -> value of C expressions that include blazed.h."""
    lines = "".join(f'  printf("{name} %lld\\n", (long long)({text}));\n' for name, text in expressions.items())
    source = f"#include <blazed/blazed.h>\n#include <stdio.h>\nint main(void) {{\n{lines}  return 0;\n}}\n"
    with tempfile.TemporaryDirectory() as folder:
        return {name: int(value) for name, value in compiled.output_of(source, folder)}


class Structures(unittest.TestCase):
    def test_every_field_lies_where_the_compiler_puts_it(self):
        asked, expected = {}, {}
        for name, structure in STRUCTURES.items():
            asked[name] = f"sizeof({name})"
            expected[name] = ctypes.sizeof(structure)
            for field, _ in structure._fields_:
                place = getattr(structure, field)
                asked[f"{name}.{field}"] = f"offsetof({name}, {field})"
                asked[f"{name}.{field}.size"] = f"sizeof((({name}*)0)->{field})"
                expected[f"{name}.{field}"], expected[f"{name}.{field}.size"] = place.offset, place.size
        self.assertEqual(compiled_numbers(asked), expected)

    def test_no_structure_of_the_header_is_missing(self):
        self.assertEqual(set(re.findall(r"typedef struct (blz_\w+) \{", HEADER)), set(STRUCTURES))

    def test_each_structure_with_a_size_sets_it(self):
        for structure in STRUCTURES.values():
            if structure._fields_[0][0] == "struct_size":
                self.assertEqual(structure().struct_size, ctypes.sizeof(structure))


class Names(unittest.TestCase):
    def test_every_function_of_the_header_is_declared(self):
        declared = set(abi.WAITING) | set(abi.SHORT) | set(abi.HOT)
        self.assertEqual(set(re.findall(r"BLZ_API [\w ]+[ *]+(blz_\w+)\(", HEADER)), declared)

    def test_every_number_has_the_headers_value_and_none_is_missing(self):
        ours = {prefix + member.name: member.value for prefix, kind in NUMBERS.items() for member in kind}
        ours.update({"BLZ_" + member.name: member.value for kind in PLAIN for member in kind})
        self.assertEqual(compiled_numbers({name: name for name in ours}), ours)
        self.assertEqual(set(re.findall(r"\bBLZ_[A-Z0-9_]+(?= =\s)", HEADER)), set(ours))

    def test_the_package_has_the_version_of_the_tree(self):
        listing = (compiled.ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn(f"project(blazed VERSION {version.VERSION} ", listing)


if __name__ == "__main__":
    unittest.main()
