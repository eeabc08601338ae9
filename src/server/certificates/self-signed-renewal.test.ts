import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { DAY_MS } from '../../base/clock.ts';
import { type Logger, silentLog } from '../../base/log.ts';
import { type Certificate, type CertificateSettings, EDGE_DAYS, loadCertificates } from './certificates.ts';
import { renewSelfSigned } from './self-signed-renewal.ts';

const NOW = Date.UTC(2026, 10, 21);
const NO_FILES = { cert_file: null, key_file: null };

/** A server that runs on its own certificates, looked at when the test says that a day has passed. */
async function running(t: TestContext, mode: string) {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const settings: CertificateSettings = {
    data_dir: dataDir,
    edge: { domain: 'example.test', https_listen: {}, tls: { mode, ...NO_FILES } },
    agents: NO_FILES,
  };
  const first = await loadCertificates(settings, NOW);
  t.mock.timers.enable({ apis: ['setInterval'] });
  const said: string[] = [];
  let heard = Promise.withResolvers<void>();
  const say = (what: string): void => {
    said.push(what);
    heard.resolve();
  };
  const used: Certificate[] = [];
  let now = NOW;
  const log: Logger = { ...silentLog, warn: () => say('warning') };
  const end = renewSelfSigned(settings, first, {
    clock: { now: () => now, monotonic: () => 0 },
    log,
    use: {
      edge: async (pair) => {
        used.push(pair);
        say('edge');
      },
      agents: async () => say('agents'),
    },
  });
  t.after(end);
  return {
    dataDir,
    first,
    used,
    said,
    end,
    /** A look on the day that is so many days after the first one. */
    look: (day: number): void => {
      now = NOW + day * DAY_MS;
      t.mock.timers.tick(DAY_MS);
    },
    next: async (): Promise<void> => {
      await heard.promise;
      heard = Promise.withResolvers();
    },
  };
}

test("the edge's certificate is remade before it runs out, once, with the same key; the agents' lives on", async (t) => {
  for (const mode of ['self_signed', 'acme']) {
    await t.test(mode, async (t) => {
      const { first, used, said, look, next } = await running(t, mode);
      look(1);
      look(EDGE_DAYS - 29);
      await next();
      look(EDGE_DAYS - 28);
      // Far behind the end of the second: comes after the look before, which must have changed nothing.
      look(2 * EDGE_DAYS);
      await next();
      assert.deepEqual(said, ['edge', 'edge']);
      const [second] = used;
      assert.ok(second !== undefined && first.edge !== null);
      assert.equal(second.key, first.edge.key);
      const days = (new X509Certificate(second.cert).validToDate.getTime() - NOW) / DAY_MS;
      assert.equal(Math.round(days), 2 * EDGE_DAYS - 29);
    });
  }
});

test('what can not be remade is logged, and tried again the next day', async (t) => {
  const { dataDir, said, look, next } = await running(t, 'self_signed');
  const file = join(dataDir, 'certificates', 'edge.key');
  renameSync(file, `${file}.away`);
  writeFileSync(file, 'nonsense');
  look(EDGE_DAYS - 29);
  await next();
  renameSync(`${file}.away`, file);
  look(EDGE_DAYS - 28);
  await next();
  assert.deepEqual(said, ['warning', 'edge']);
});

test('nothing is used any more once it has ended', async (t) => {
  const { end, said, look } = await running(t, 'self_signed');
  end();
  look(EDGE_DAYS);
  assert.deepEqual(said, []);
});
