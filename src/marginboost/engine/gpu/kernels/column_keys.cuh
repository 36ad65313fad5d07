// Keys: unsigned integers in the order of a column's values, as in native/src/binning/sort_keys.hpp.
// VALUE: the type of X; 0 and 1 float and double, 2 to 5 signed and 6 to 9 unsigned integers of 1, 2, 4
// and 8 bytes.

#if VALUE == 0
using Value = float;
#elif VALUE == 1
using Value = double;
#elif VALUE == 2
using Value = i8;
#elif VALUE == 3
using Value = short;
#elif VALUE == 4
using Value = i32;
#elif VALUE == 5
using Value = i64;
#elif VALUE == 6
using Value = u8;
#elif VALUE == 7
using Value = u16;
#elif VALUE == 8
using Value = u32;
#else
using Value = u64;
#endif

constexpr bool IS_FLOAT = VALUE < 2;
constexpr u32 SIGN = 0x80000000u;
constexpr u64 WIDE_SIGN = 0x8000000000000000ull;

__device__ inline u64 key_of_double(double value) {
  const u64 bits = static_cast<u64>(__double_as_longlong(value + 0.0));  // -0.0 is 0.0
  return bits & WIDE_SIGN ? ~bits : bits | WIDE_SIGN;
}

#if VALUE == 0
using Key = u32;
constexpr Key LOWEST = 0x007fffffu, HIGHEST = 0xff800000u;  // of -inf and inf
__device__ inline Key key_of(Value value) {
  const u32 bits = __float_as_uint(value + 0.0F);
  return bits & SIGN ? ~bits : bits | SIGN;
}
__device__ inline u64 wide_key(Key key) {
  return key_of_double(static_cast<double>(__uint_as_float(key & SIGN ? key & ~SIGN : ~key)));
}
#elif VALUE == 1 || VALUE == 5 || VALUE == 9
using Key = u64;
constexpr Key LOWEST = 0x000fffffffffffffull, HIGHEST = 0xfff0000000000000ull;
__device__ inline Key key_of(Value value) { return key_of_double(static_cast<double>(value)); }
__device__ inline u64 wide_key(Key key) { return key; }
#else
using Key = u32;
constexpr Key LOWEST = 0, HIGHEST = 0xffffffffu;  // not read
constexpr u32 FLIP = VALUE < 6 ? SIGN : 0;
__device__ inline Key key_of(Value value) { return static_cast<u32>(value) ^ FLIP; }
__device__ inline u64 wide_key(Key key) {
  return key_of_double(FLIP ? static_cast<double>(static_cast<i32>(key ^ FLIP))
                            : static_cast<double>(key));
}
#endif

__device__ inline bool is_lowest(Key key) { return IS_FLOAT && key == LOWEST; }
__device__ inline bool is_highest(Key key) { return IS_FLOAT && key == HIGHEST; }
