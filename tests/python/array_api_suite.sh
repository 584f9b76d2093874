#!/usr/bin/env bash
# array_api_suite.sh CHECKOUT [PYTHON [EXAMPLES]]: the Array API standard's own tests (github.com/data-apis/array-api-tests with
# its submodule array-api) of the functions that redax has, on tests/python/array_api_namespace.py. PYTHON has redax, NumPy,
# array_api_compat and what the checkout's requirements.txt names; EXAMPLES (100) is hypothesis's number of cases a test.
set -euo pipefail
checkout=$(realpath "${1:?usage: array_api_suite.sh CHECKOUT [PYTHON [EXAMPLES]]}")
python=${2:-python3}
examples=${3:-100}
here=$(realpath "$(dirname "$0")")
python=$(realpath -s "$(command -v "$python")") # not through the links of a venv
functions='sum|prod|mean|var|std|min|max|any|all|argmin|argmax|count_nonzero|vector_norm'
tests=array_api_tests
cd "$checkout"
[ -d array-api/src ] || { echo "$checkout has no submodule array-api: git submodule update --init" >&2; exit 1; }
# The nodes whose names end in one of the functions, or that are parametrised by one.
mapfile -t nodes < <(env PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" ARRAY_API_TESTS_MODULE=array_api_namespace "$python" -m pytest --collect-only -q \
    -p no:cacheprovider $tests/test_statistical_functions.py $tests/test_utility_functions.py $tests/test_searching_functions.py \
    $tests/test_linalg.py $tests/test_special_cases.py $tests/test_signatures.py $tests/test_has_names.py 2>/dev/null |
    grep -E "test_($functions)\$|test_($functions)\[|\[(\w+[-.])?($functions)(\W.*)?\]\$")
[ ${#nodes[@]} -gt 0 ] || { echo "array-api-tests: nothing was collected" >&2; exit 1; }
echo "array-api-tests: ${#nodes[@]} tests of redax's functions"
PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" ARRAY_API_TESTS_MODULE=array_api_namespace exec "$python" -m pytest -v -rsx -W ignore::UserWarning -p no:cacheprovider \
    --max-examples="$examples" "${nodes[@]}"
