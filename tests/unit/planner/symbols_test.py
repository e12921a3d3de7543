#!/usr/bin/env python3
"""The planner's library asks for nothing but the standard library: no clock, no randomness, no file, no thread."""
import re
import subprocess
import sys
import unittest

ARCHIVE = sys.argv.pop(1)

# Demangled names that may stay open. Whatever is not here has to be thought about.
ALLOWED = re.compile(
    r"""(typeinfo\ (for|name\ for)\ |vtable\ for\ )?
        ( std::(?!chrono|random_device|this_thread|thread|filesystem|mutex|condition_variable
                # streams and what a locale changes, also inside of std::__cxx11
                |(__cxx11::)?((basic_)?w?(i|o|io)?(string|f)?stream(buf)?\b|basic_(string|file)buf|(basic_)?ios|w?c(in|out|err|log)$
                  |__ostream|operator(<<|>>)|locale|(use|has)_facet|ctype|codecvt|(num|money|time)(punct|_get|_put)|messages|collate))
        | __cxxabiv1:: | __cxa_ | __gxx_personality | _Unwind_ | _GLOBAL_OFFSET_TABLE_ | __stack_chk_fail | __dso_handle
        | operator\ (new|delete)
        | (mem(chr|cmp|cpy|move|set)|strlen|abort)$
        | (__libc_single_threaded|strcmp)$  # std::shared_ptr counts and compares types by them
        | (erfc?|exp|exp2|expm1|log|log1p|log2|pow|sqrt|tanh|sin|cos|floor|ceil|fabs|hypot|nearbyint|round|lround)f?$
        | __(asan|ubsan|tsan|sanitizer)_ )""",
    re.VERBOSE)


def open_symbols(archive):
    """Undefined symbols of the archive's objects that none of its objects defines."""
    listed = subprocess.run(["nm", "-C", archive], stdout=subprocess.PIPE, text=True, check=True).stdout
    asked, given = set(), set()
    for line in listed.splitlines():
        found = re.match(r"[0-9a-f ]{16} ([A-Za-z]) (.+)$", line)
        if found:
            (asked if found[1] in "Uw" else given).add(found[2])
    return asked - given


class Symbols(unittest.TestCase):
    def test_only_the_standard_library_is_asked_for(self):
        names = open_symbols(ARCHIVE)
        self.assertIn("log1p", names, "no symbol was read")
        self.assertEqual(sorted(name for name in names if not ALLOWED.match(name)), [])

    def test_a_clock_a_file_or_another_library_would_be_seen(self):
        for name in ("std::chrono::_V2::steady_clock::now()", "clock_gettime", "absl::Now()", "sqlite3_open", "fopen",
                     "std::random_device::_M_getval()", "getenv", "rand", "expected", "typeinfo for absl::Status",
                     "std::cout", "std::wcerr", "std::locale::classic()", "std::locale::locale(char const*)",
                     "std::ctype<char>::id", "std::ios_base::Init::Init()", "typeinfo for std::basic_ostream<char>",
                     "vtable for std::__cxx11::basic_ostringstream<char, std::char_traits<char>, std::allocator<char> >",
                     "std::__cxx11::basic_stringbuf<char>::str() const", "std::ostream::operator<<(double)",
                     "std::basic_ostream<char, std::char_traits<char> >& std::__ostream_insert<char>(char const*)"):
            self.assertIsNone(ALLOWED.match(name), name)


if __name__ == "__main__":
    unittest.main()
