// Every operator on bit<48>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 48
#define NUMBER bit<48>
#include "include/operators.p4"
