/** Windows programs: Node's signature no longer fits once something is put inside, so it is removed before. */

const CERTIFICATES = 4;
const DIRECTORIES = 24 + 112;
const CHECKSUM = 24 + 64;

/** The file without its certificate table. @throws when the file is no 64-bit PE file or something follows the table. */
export function removeAuthenticode(input: Buffer): Buffer {
  if (input.toString('latin1', 0, 2) !== 'MZ') throw new Error('not a program for Windows');
  const header = input.readUInt32LE(60);
  if (input.toString('latin1', header, header + 4) !== 'PE\0\0' || input.readUInt16LE(header + 24) !== 0x20b) {
    throw new Error('not a 64-bit PE file');
  }
  const directory = header + DIRECTORIES + 8 * CERTIFICATES;
  const start = input.readUInt32LE(directory);
  const size = input.readUInt32LE(directory + 4);
  if (size === 0) return input;
  if (start + size !== input.length) throw new Error('the certificate table is not the last part of the file');
  const file = Buffer.from(input.subarray(0, start));
  file.fill(0, directory, directory + 8);
  file.writeUInt32LE(0, header + CHECKSUM); // Windows checks it for drivers alone
  return file;
}
