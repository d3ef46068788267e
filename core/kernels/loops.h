#pragma once
// The table of vector loops. Each is compiled for several levels of the instruction set
// (core/kernels/loops/, see CMakeLists.txt) and the best one the processor has is taken at run
// time.
