// Every operator on bit<33>: wrap-around, saturation, shifts beyond the width.
#define WIDTH 33
#define NUMBER bit<33>
#include "include/operators.p4"
