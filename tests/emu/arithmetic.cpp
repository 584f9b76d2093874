/* Built-ins and twins (device.h) that are arithmetic of more than an expression. Kernels are not optimised; this is:
   bit reversal alone took up to two fifths of what columns cost. */
#include "device.h"
#include "kernels/scalar.h"

unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

unsigned __byte_perm(unsigned low, unsigned high, unsigned which)
{
    uint64_t bytes = (uint64_t)high << 32 | low;
    unsigned taken = 0;
    for (int i = 0; i < 4; i++)
        taken |= (unsigned)(bytes >> 8 * (which >> 4 * i & 7) & 0xff) << 8 * i;
    return taken;
}

unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}
int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 32; i += 8)
        c += (int8_t)(a >> i) * (int8_t)(b >> i);
    return c;
}
unsigned __vcmpne4(unsigned a, unsigned b)
{
    unsigned differ = 0;
    for (int i = 0; i < 32; i += 8)
        differ |= (a >> i & 0xff) != (b >> i & 0xff) ? 0xffu << i : 0;
    return differ;
}
unsigned __vcmpeq2(unsigned a, unsigned b)
{
    return ((a ^ b) & 0xffff ? 0 : 0xffffu) | ((a ^ b) >> 16 ? 0 : 0xffff0000u);
}

namespace rdx
{

float widen_half(uint64_t bits)
{
    uint32_t sign = (uint32_t)(bits >> 15 & 1) << 31, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 0) {
        float tiny = ldexpf((float)fraction, -24);
        return sign ? -tiny : tiny;
    }
    exponent = exponent == 31 ? 255 : exponent + 112;
    return emu::same_bits<float>(sign | exponent << 23 | fraction << 13);
}

float widen_e4m3(uint32_t word, int byte)
{
    uint32_t bits = word >> 8 * byte & 0xff, exponent = bits >> 3 & 15, fraction = bits & 7;
    float value = exponent ? ldexpf((float)(8 + fraction), (int)exponent - 10) : ldexpf((float)fraction, -9);
    if (exponent == 15 && fraction == 7)
        return NAN;
    return bits & 0x80 ? -value : value;
}

uint32_t widen_pair_e4m3(uint32_t word)
{
    uint32_t halves = 0;
    for (int byte = 0; byte < 2; byte++) {
        int exponent;
        float value = widen_e4m3(word, byte), fraction = frexpf(fabsf(value), &exponent); /* in [0.5, 1), or 0 */
        uint32_t half = value != value ? 0x7e00
                        : value == 0   ? 0
                                       : (exponent + 14) * 1024 + (uint32_t)(fraction * 2048) - 1024;
        halves |= (half | (word >> 8 * byte & 0x80) << 8) << 16 * byte;
    }
    return halves;
}

float greater_of(float a, float b, bool omit)
{
    if (a != a || b != b)
        return omit ? (a != a ? b : a) : NAN;
    return a < b || (a == b && signbit(a)) ? b : a;
}

template <bool BRAIN> uint32_t greater_pair(uint32_t a, uint32_t b, bool omit)
{
    uint32_t greater = 0;
    for (int half = 0; half < 32; half += 16) {
        uint32_t x = a >> half & 0xffff, y = b >> half & 0xffff;
        float fx = BRAIN ? emu::same_bits<float>(x << 16) : widen_half(x);
        float fy = BRAIN ? emu::same_bits<float>(y << 16) : widen_half(y), m = greater_of(fx, fy, omit);
        greater |= (m != m ? 0x7fff : emu::same_bits<uint32_t>(m) == emu::same_bits<uint32_t>(fx) ? x : y) << half;
    }
    return greater;
}
template uint32_t greater_pair<false>(uint32_t, uint32_t, bool);
template uint32_t greater_pair<true>(uint32_t, uint32_t, bool);

uint32_t greater_halves(uint32_t a, uint32_t b, bool is_unsigned)
{
    /* Signed numbers order like unsigned ones of the other top bit. */
    const uint32_t turn = is_unsigned ? 0 : 0x80008000u;
    uint32_t x = a ^ turn, y = b ^ turn;
    uint32_t high = x >> 16 > y >> 16 ? x : y, low = (x & 0xffff) > (y & 0xffff) ? x : y;
    return ((high & 0xffff0000u) | (low & 0xffff)) ^ turn;
}

template <bool BRAIN> uint32_t equal_pair(uint32_t a, uint32_t b)
{
    uint32_t same = 0;
    for (int half = 0; half < 32; half += 16) {
        uint32_t x = a >> half & 0xffff, y = b >> half & 0xffff;
        float fx = BRAIN ? emu::same_bits<float>(x << 16) : widen_half(x);
        float fy = BRAIN ? emu::same_bits<float>(y << 16) : widen_half(y);
        same |= fx == fy ? 0xffffu << half : 0;
    }
    return same;
}
template uint32_t equal_pair<false>(uint32_t, uint32_t);
template uint32_t equal_pair<true>(uint32_t, uint32_t);

template <bool BRAIN> uint32_t narrow_pair(float low, float high)
{
    return BRAIN ? rdx_store_bf16(low) | (uint32_t)rdx_store_bf16(high) << 16
                 : rdx_store_f16(low) | (uint32_t)rdx_store_f16(high) << 16;
}
template uint32_t narrow_pair<false>(float, float);
template uint32_t narrow_pair<true>(float, float);

} // namespace rdx
