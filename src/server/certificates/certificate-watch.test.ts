/** Certificate files that are renewed, broken, missing and switched while they are watched. Files and reads are real, the clock is not. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, before, beforeEach, test } from 'node:test';
import { DAY_MS } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { testCertificate, type TestCertificate } from '../../data/fixtures/certificate.ts';
import { CertificateWatch } from './certificate-watch.ts';
import type { Certificate } from './certificates.ts';

const NEVER_MS = 1_000_000_000;
let old: TestCertificate;
let renewed: TestCertificate;
let folder = '';
let certFile = '';
let keyFile = '';
let used: Certificate[] = [];
let warnings: string[] = [];
let now = Date.now();
let watch: CertificateWatch | undefined;

const log: Logger = {
  error: () => {},
  warn: (fields, message) => warnings.push(`${message} ${JSON.stringify(fields)}`),
  info: () => {},
  debug: () => {},
  child: () => log,
};

before(async () => {
  old = await testCertificate([], 90 * DAY_MS);
  renewed = await testCertificate([], 90 * DAY_MS);
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'culvert-'));
  certFile = join(folder, 'fullchain.pem');
  keyFile = join(folder, 'privkey.pem');
  used = [];
  warnings = [];
  now = Date.now();
});
afterEach(() => {
  watch?.close();
  rmSync(folder, { recursive: true });
});

function write({ cert, key }: Certificate): void {
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
}

function watched(
  pollMs = NEVER_MS,
  use = async (pair: Certificate): Promise<void> => void used.push(pair),
): CertificateWatch {
  watch = new CertificateWatch([{ certFile, keyFile, current: old, use }], {
    clock: { now: () => now, monotonic: () => now },
    log,
    pollMs,
  });
  return watch;
}

test('a renewed pair is used once, and one that stays or is only touched is not', async () => {
  write(old);
  const files = watched();
  await files.look();
  write(old);
  await files.look();
  assert.deepEqual(used, []);
  writeFileSync(`${keyFile}.new`, renewed.key);
  writeFileSync(`${certFile}.new`, renewed.cert);
  renameSync(`${keyFile}.new`, keyFile);
  renameSync(`${certFile}.new`, certFile);
  await files.look();
  await files.look();
  assert.deepEqual(used, [renewed]);
  assert.deepEqual(warnings, []);
});

test('a symlink that is switched to another folder is a renewal', async () => {
  for (const [name, pair] of [
    ['one', old],
    ['two', renewed],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'fullchain.pem'), pair.cert);
    writeFileSync(join(folder, name, 'privkey.pem'), pair.key);
  }
  symlinkSync('one', join(folder, 'live'));
  certFile = join(folder, 'live', 'fullchain.pem');
  keyFile = join(folder, 'live', 'privkey.pem');
  const files = watched();
  await files.look();
  symlinkSync('two', join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, 'live'));
  await files.look();
  assert.deepEqual(used, [renewed]);
});

test('files that do not fit are kept out with one warning, and used once they do', async () => {
  write(old);
  const files = watched();
  await files.look();
  writeFileSync(certFile, renewed.cert);
  await files.look();
  await files.look();
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /are invalid or do not match.*does not match/);
  writeFileSync(keyFile, renewed.key);
  await files.look();
  assert.deepEqual(used, [renewed]);
  assert.equal(warnings.length, 1);
});

test('a file that is half written, empty or gone is kept out, and each is said once', async () => {
  write(old);
  const files = watched();
  await files.look();
  const chain = `${renewed.cert}\n${old.cert}`;
  writeFileSync(keyFile, renewed.key);
  for (const text of ['', renewed.cert.slice(0, 200), chain.slice(0, -100)]) {
    writeFileSync(certFile, text);
    await files.look();
    await files.look();
  }
  unlinkSync(certFile);
  await files.look();
  await files.look();
  assert.deepEqual(used, []);
  assert.match(warnings.at(-1) ?? '', /ENOENT/);
  assert.equal(new Set(warnings).size, warnings.length, 'nothing is said twice');
  writeFileSync(certFile, chain);
  await files.look();
  assert.deepEqual(used, [{ cert: chain, key: renewed.key }]);
});

test('a pair that is refused by its user is tried again', async () => {
  write(old);
  let refuses = true;
  const files = watched(NEVER_MS, async (pair) => {
    if (refuses) throw new Error('not now');
    used.push(pair);
  });
  write(renewed);
  await files.look();
  assert.match(warnings[0] ?? '', /not now/);
  refuses = false;
  await files.look();
  assert.deepEqual(used, [renewed]);
});

test('looks that are asked for at once are one, and none uses anything after the close', async () => {
  write(old);
  const files = watched();
  const first = files.look();
  assert.equal(files.look(), first);
  await first;
  write(renewed);
  const late = files.look();
  files.close();
  await late;
  assert.deepEqual(used, []);
});

test('it looks by itself', { timeout: 120_000 }, async () => {
  write(old);
  const { promise, resolve } = Promise.withResolvers<Certificate>();
  watched(10, async (pair) => resolve(pair));
  write(renewed);
  assert.deepEqual(await promise, renewed);
});

test('the end of a certificate is a warning a day from a week before, until it is renewed', async () => {
  write(old);
  const files = watched();
  now += 82 * DAY_MS;
  await files.look();
  assert.deepEqual(warnings, []);
  now += 1.5 * DAY_MS;
  await files.look();
  await files.look();
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /expires soon: renew it/);
  now += DAY_MS;
  await files.look();
  assert.equal(warnings.length, 2);
  now += 6 * DAY_MS;
  await files.look();
  assert.match(warnings[2] ?? '', /has expired/);
  write(await testCertificate([], 200 * DAY_MS));
  await files.look();
  now += DAY_MS;
  await files.look();
  assert.equal(used.length, 1);
  assert.equal(warnings.length, 3);
});
