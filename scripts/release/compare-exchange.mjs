/**
 * `bool __atomic_compare_exchange(size_t size, void *object, void *expected, void *desired, int, int)` for size 8, sequentially consistent, in
 * machine code. Any other size ends the program with a trap: a wrong result would be worse.
 */

function words(list) {
  const buffer = Buffer.alloc(list.length * 4);
  list.forEach((word, index) => buffer.writeUInt32LE(word, index * 4));
  return buffer;
}

// biome-ignore format: a line per instruction
const X86_64 = Buffer.from([
  0xf3, 0x0f, 0x1e, 0xfa,             //        endbr64
  0x48, 0x83, 0xff, 0x08,             //        cmp   rdi, 8
  0x75, 0x19,                         //        jne   trap
  0x48, 0x8b, 0x02,                   //        mov   rax, [rdx]
  0x48, 0x8b, 0x09,                   //        mov   rcx, [rcx]
  0xf0, 0x48, 0x0f, 0xb1, 0x0e,       //        lock cmpxchg [rsi], rcx
  0x75, 0x06,                         //        jne   other
  0xb8, 0x01, 0x00, 0x00, 0x00, 0xc3, //        mov   eax, 1; ret
  0x48, 0x89, 0x02,                   // other: mov   [rdx], rax
  0x31, 0xc0, 0xc3,                   //        xor   eax, eax; ret
  0x0f, 0x0b,                         // trap:  ud2
]);

// Every ARMv8 has LDAXR and STLXR; CASAL would need ARMv8.1.
// biome-ignore format: a line per instruction
const ARM64 = words([
  0xd503245f, //        bti   c
  0xf100201f, //        cmp   x0, #8
  0x540001e1, //        b.ne  trap
  0xf9400044, //        ldr   x4, [x2]
  0xf9400063, //        ldr   x3, [x3]
  0xc85ffc25, // retry: ldaxr x5, [x1]
  0xeb0400bf, //        cmp   x5, x4
  0x540000c1, //        b.ne  other
  0xc806fc23, //        stlxr w6, x3, [x1]
  0x35ffff86, //        cbnz  w6, retry
  0xd5033bbf, //        dmb   ish
  0x52800020, //        mov   w0, #1
  0xd65f03c0, //        ret
  0xd5033f5f, // other: clrex
  0xf9000045, //        str   x5, [x2]
  0x52800000, //        mov   w0, #0
  0xd65f03c0, //        ret
  0xd4200000, // trap:  brk   #0
]);

/** By the machine of an ELF file: the function and the types of relocations that concern it. */
const MACHINES = new Map([
  [62, { code: X86_64, globDat: 6, jumpSlot: 7, relative: 8 }],
  [183, { code: ARM64, globDat: 1025, jumpSlot: 1026, relative: 1027 }],
]);

export function compareExchange(machine) {
  const found = MACHINES.get(machine);
  if (found === undefined) throw new Error(`unknown machine ${machine}: only x86-64 and arm64 are known`);
  return found;
}
