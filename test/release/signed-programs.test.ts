/** Programs of macOS and Windows without either: their signatures, on files of a few pages that are made here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSignature, signMachO } from '../../scripts/release/macho.ts';
import { removeAuthenticode } from '../../scripts/release/pe.ts';

const PAGE = 4096;

/** An arm64 program with __TEXT and __LINKEDIT; its first section begins at `firstSection`. */
function machO(firstSection = 1024): Buffer {
  const file = Buffer.alloc(5 * PAGE, 7);
  file.fill(0, 0, firstSection);
  const put32 = (at: number, ...values: number[]): void =>
    values.forEach((value, i) => file.writeUInt32LE(value, at + 4 * i));
  const put64 = (at: number, ...values: bigint[]): void =>
    values.forEach((value, i) => file.writeBigUInt64LE(value, at + 8 * i));
  put32(0, 0xfeedfacf, 0x0100000c, 0, 2, 2, 152 + 72);
  put32(32, 0x19, 152);
  file.write('__TEXT', 40, 'latin1');
  put64(56, 0x100000000n, BigInt(4 * PAGE), 0n, BigInt(4 * PAGE));
  put32(96, 1);
  put32(32 + 72 + 48, firstSection);
  put32(184, 0x19, 72);
  file.write('__LINKEDIT', 192, 'latin1');
  put64(208, 0x100004000n, BigInt(4 * PAGE), BigInt(4 * PAGE), BigInt(PAGE));
  return file;
}

test('macOS: each page of a signed program has its hash, and a changed byte is found', () => {
  const input = machO();
  assert.equal(readSignature(input), undefined);
  const signed = signMachO(input, 'culvert');
  assert.deepEqual(readSignature(signed), { id: 'culvert', pages: 5, fitting: 5 });
  assert.ok(
    signed.subarray(1024, input.length - PAGE).equals(input.subarray(1024, input.length - PAGE)),
    'no byte moves',
  );
  signed[3 * PAGE] = 8;
  assert.equal(readSignature(signed)?.fitting, 4);
});

test('macOS: a second signature replaces the first', () => {
  const first = signMachO(machO(), 'first');
  const second = signMachO(first, 'culvert');
  assert.deepEqual(readSignature(second), { id: 'culvert', pages: 5, fitting: 5 });
  assert.ok(signMachO(second, 'culvert').equals(second));
});

test('macOS: a file of another shape is refused', () => {
  assert.throws(() => signMachO(Buffer.alloc(PAGE), 'culvert'), /not a thin 64-bit Mach-O file/);
  assert.throws(() => signMachO(machO(256), 'culvert'), /no room for the load command/);
  assert.throws(() => signMachO(Buffer.concat([machO(), Buffer.alloc(8)]), 'culvert'), /__LINKEDIT is not the last/);
});

/** A program of Windows whose last part is a certificate table. */
function pe(): Buffer {
  const file = Buffer.alloc(1024, 1);
  file.write('MZ', 0, 'latin1');
  file.writeUInt32LE(128, 60);
  file.write('PE\0\0', 128, 'latin1');
  file.writeUInt16LE(0x20b, 128 + 24);
  file.writeUInt32LE(768, 128 + 24 + 112 + 32);
  file.writeUInt32LE(256, 128 + 24 + 112 + 36);
  return file;
}

test('Windows: the certificates are cut off once, and nothing else', () => {
  const cut = removeAuthenticode(pe());
  assert.equal(cut.length, 768);
  assert.equal(cut.readBigUInt64LE(128 + 24 + 112 + 32), 0n);
  assert.ok(removeAuthenticode(cut).equals(cut));
  const behind = pe().subarray(304, 768);
  assert.ok(cut.subarray(304).equals(behind));
});

test('Windows: a file of another shape is refused', () => {
  assert.throws(() => removeAuthenticode(Buffer.alloc(512)), /not a program for Windows/);
  assert.throws(() => removeAuthenticode(Buffer.concat([pe(), Buffer.alloc(8)])), /not the last part/);
});
