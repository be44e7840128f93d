// Every operator on bit<31>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 31
#define NUMBER bit<31>
#include "include/operators.p4"
