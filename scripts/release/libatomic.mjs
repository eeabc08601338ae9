/**
 * Removes the need of libatomic from Node for Linux (x86-64, arm64). Node 26 is linked against `libatomic.so.1` for one function, which V8 calls
 * with size 8 alone; a minimal Debian, Ubuntu or Alma has no such library. The function goes into the zeros behind the executable
 * segment, and its relocation points there. No byte moves, so what `--build-sea` adds later stays as it is.
 * Reasons: docs/decisions/0026-release.md. Plain JavaScript: it runs on npm's own Node where Node 26 does not start.
 */
import { Elf, TAG } from './elf.mjs';
import { compareExchange } from './compare-exchange.mjs';

const LIBRARY = 'libatomic.so.1';
const SYMBOL = '__atomic_compare_exchange';
const EXECUTABLE = 1;
const BIND_NOW = 8;
const NOW = 1;
const SYMBOL_SIZE = 24;
const RELOCATION_SIZE = 24;

/** The libraries that the loader opens for this file. */
export function neededLibraries(file) {
  return new Elf(file).needed();
}

/**
 * Changes `file` in place. False when it does not need libatomic.
 * @throws when the file has another shape than the one that was studied; `file` is as it was then.
 */
export function removeLibatomic(file) {
  const elf = new Elf(file);
  const needed = elf.dynamic.find(({ tag, value }) => tag === TAG.needed && elf.text(value) === LIBRARY);
  if (needed === undefined) return false;
  const machine = compareExchange(elf.machine);
  const need = versionNeed(elf);
  const symbol = wantedSymbol(elf, need);
  const relocations = relocationsOf(elf, symbol, machine);
  const room = roomBehindCode(elf, machine.code.length);
  // All that can be refused was: from here on the file changes.
  machine.code.copy(file, room.start);
  for (const at of [room.segment.at + 32, room.segment.at + 40]) elf.set64(at, room.end - room.segment.offset);
  for (const at of relocations) {
    elf.set64(at + 8, machine.relative);
    elf.set64(at + 16, room.address);
  }
  file.writeUInt16LE(1, symbol.versionAt); // of no version
  file[symbol.at + 4] = (2 << 4) | (file[symbol.at + 4] & 15); // weak, for tools that look for unresolved names
  unlinkNeed(elf, need);
  removeEntry(elf, needed);
  mendSections(elf, { need, room });
  return true;
}

/** What the file wants of the library: one record of the version needs, and the one before it. */
function versionNeed(elf) {
  const { file } = elf;
  let previous;
  const count = elf.value(TAG.versionNeedCount);
  for (let i = 0, at = elf.offsetOf(elf.value(TAG.versionNeeds)); i < count; i++) {
    const next = file.readUInt32LE(at + 12);
    if (elf.text(file.readUInt32LE(at + 4)) === LIBRARY) return { at, next, previous, count };
    previous = { at, next };
    at += next;
  }
  throw new Error(`${LIBRARY} is needed without a version`);
}

/** The one symbol whose version is of the library. */
function wantedSymbol(elf, need) {
  const { file } = elf;
  const versions = new Set();
  for (let i = 0, at = need.at + file.readUInt32LE(need.at + 8); i < file.readUInt16LE(need.at + 2); i++) {
    versions.add(file.readUInt16LE(at + 6));
    at += file.readUInt32LE(at + 12);
  }
  const symbols = elf.offsetOf(elf.value(TAG.symbols));
  const versionsOf = elf.offsetOf(elf.value(TAG.versions));
  const wanted = [];
  // The string table lies behind the symbols in what ld writes.
  for (let index = 1; index < (elf.strings - symbols) / SYMBOL_SIZE; index++) {
    const versionAt = versionsOf + 2 * index;
    if (!versions.has(file.readUInt16LE(versionAt) & 0x7fff)) continue;
    const at = symbols + SYMBOL_SIZE * index;
    wanted.push({ index, at, versionAt, name: elf.text(file.readUInt32LE(at)) });
  }
  if (wanted.length !== 1 || wanted[0].name !== SYMBOL) {
    const names = wanted.map(({ name }) => name).join(', ');
    throw new Error(`${LIBRARY} is needed for ${names || 'nothing'}; only ${SYMBOL} can be replaced`);
  }
  return wanted[0];
}

function relocationsOf(elf, symbol, machine) {
  const { file } = elf;
  const found = [];
  const tables = [
    [elf.value(TAG.relocations), elf.value(TAG.relocationsSize)],
    [elf.value(TAG.pltRelocations), elf.value(TAG.pltSize)],
  ];
  for (const [start, size] of tables) {
    if (start === undefined) continue;
    const from = elf.offsetOf(start);
    for (let at = from; at < from + size; at += RELOCATION_SIZE) {
      const info = file.readBigUInt64LE(at + 8);
      if (Number(info >> 32n) === symbol.index) found.push({ at, type: Number(info & 0xffffffffn) });
    }
  }
  const strange = found.filter(({ type }) => type !== machine.jumpSlot && type !== machine.globDat);
  if (found.length === 0 || strange.length > 0) {
    throw new Error(`${SYMBOL} has relocations of the types ${found.map(({ type }) => type).join(', ') || 'none'}`);
  }
  if (!((elf.value(TAG.flags) ?? 0) & BIND_NOW) && !((elf.value(TAG.flags1) ?? 0) & NOW)) {
    throw new Error('the file binds its functions lazily: the loader would not apply the relocation');
  }
  return found.map(({ at }) => at);
}

/** Zeros between the end of the executable segment and the end of its page. */
function roomBehindCode(elf, length) {
  const { file, loads, segments } = elf;
  const segment = loads.find(({ flags }) => flags & EXECUTABLE);
  if (segment === undefined) throw new Error('the file has no executable segment');
  const codeEnd = segment.offset + segment.fileSize;
  const start = Math.ceil(codeEnd / 16) * 16;
  const end = start + length;
  const address = segment.address + start - segment.offset;
  const behind = segments.filter(({ offset }) => offset >= codeEnd).map(({ offset }) => offset);
  const above = loads.filter((load) => load.address > segment.address).map((load) => load.address);
  if (end > Math.min(...behind, file.length) || address + length > Math.min(...above)) {
    throw new Error('there is no room behind the code');
  }
  if (file.subarray(codeEnd, end).some((byte) => byte !== 0)) throw new Error('the room behind the code is in use');
  return { segment, start, end, address, codeEnd };
}

function unlinkNeed(elf, need) {
  const { file } = elf;
  if (need.previous === undefined) {
    elf.set64(elf.entry(TAG.versionNeeds).at + 8, elf.value(TAG.versionNeeds) + need.next);
  } else {
    const next = need.next === 0 ? 0 : need.previous.next + need.next;
    file.writeUInt32LE(next, need.previous.at + 12);
  }
  elf.set64(elf.entry(TAG.versionNeedCount).at + 8, need.count - 1);
}

/** The entries behind it move up, the end mark too. */
function removeEntry({ file, dynamic }, { at }) {
  const last = dynamic[dynamic.length - 1].at;
  file.copy(file, at, at + 16, last + 16);
  file.fill(0, last, last + 16);
}

/** Section headers are for tools (strip, readelf, --build-sea): the loader reads none. */
function mendSections(elf, { need, room }) {
  const { file } = elf;
  const start = elf.u64(40);
  if (start === 0) return;
  const size = file.readUInt16LE(58);
  const oldNeeds = elf.value(TAG.versionNeeds);
  const cut = need.previous === undefined ? need.next : 0;
  for (let i = 0, at = start; i < file.readUInt16LE(60); i++, at += size) {
    const type = file.readUInt32LE(at + 4);
    if (type === TAG.versionNeeds && elf.u64(at + 16) === oldNeeds) {
      elf.set64(at + 16, oldNeeds + cut);
      elf.set64(at + 24, elf.u64(at + 24) + cut);
      elf.set64(at + 32, elf.u64(at + 32) - cut);
      file.writeUInt32LE(need.count - 1, at + 44);
    } else if (type === 1 && elf.u64(at + 24) + elf.u64(at + 32) === room.codeEnd && elf.u64(at + 8) & 4) {
      elf.set64(at + 32, room.end - elf.u64(at + 24)); // the last section of code takes it in, so that strip keeps it
    }
  }
}
