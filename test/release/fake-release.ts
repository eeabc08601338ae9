/** A release around programs of a few bytes, made by the code of `npm run release`, and a server for it. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import { installers, makeArchive } from '../../scripts/release/contents.ts';
import { openReleaseKey, publicKeyFile, type ReleaseKey, signFiles } from '../../scripts/release/keys.ts';
import { TARGET_NAMES } from '../../scripts/release/targets.ts';

/** A shell script that answers `culvert version`, and fails at all else. */
export const fakeProgram = (version: string): string =>
  `#!/bin/sh\n[ "$1" = version ] || exit 9\necho "culvert ${version} (commit 0000000)"\n`;

export interface FakeRelease {
  readonly folder: string;
  readonly key: ReleaseKey;
}

/** Writes a release of all platforms to `folder`. */
export function makeFakeRelease(
  folder: string,
  { version = '1.2.3', program = fakeProgram(version), key = openReleaseKey(undefined) } = {},
): FakeRelease {
  const release = { version, epoch: 1_700_000_000, isTest: false, xzLevel: 0 };
  const files = new Map<string, Buffer>([['culvert.pub', publicKeyFile(key)], ...installers(key.publicKey)]);
  for (const target of TARGET_NAMES) {
    const { name, content } = makeArchive(target, Buffer.from(program), release);
    files.set(name, content);
  }
  signFiles(files, key);
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
  return { folder, key };
}

/** Flips a bit in the middle of a file. */
export function changeByte(file: string): void {
  const bytes = readFileSync(file);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

/** Serves the files of a folder; resolves with its URL. */
export async function serveFolder(t: TestContext, folder: string): Promise<string> {
  const server = createServer((request, response) => {
    try {
      response.end(readFileSync(join(folder, basename(request.url ?? ''))));
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
