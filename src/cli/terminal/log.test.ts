/** No key gets into a log, whatever field or text it stands in; the format follows the output. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { Secret } from '../../base/secret.ts';
import type { Output } from './io.ts';
import { makeLog } from './log.ts';

const KEY = 'mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc';

function sink(isTTY: boolean): { output: Output; text(): string } {
  let written = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString();
      done();
    },
  });
  return { output: Object.assign(stream, { isTTY }), text: () => written };
}

for (const format of ['json', 'pretty'] as const) {
  test(`${format}: keys and passwords are masked in fields, in nested fields and in texts`, async () => {
    const { output, text } = sink(false);
    const log = await makeLog({ level: 'debug', format, output, color: false });
    log.info({ token: KEY, hello: { token: KEY }, a: { b: { password: 'hunter2' } } }, 'fields');
    log.info({ refresh_token: 'hunter2', body: { wire_bytes_b64: 'hunter2', device_code: 'hunter2' } }, 'a login');
    log.warn({ cause: `the server said ${KEY}` }, `text ${KEY}`);
    log
      .child({ authorization: `Bearer ${KEY}` })
      .error({ err: new Error(`bad ${KEY}`), secret: new Secret('hunter2') }, 'error');
    const written = text();
    assert.match(written, /fields/);
    assert.match(written, /text mtk_\[secret\]/);
    assert.ok(!written.includes(KEY) && !written.includes('hunter2'), written);
  });
}

test('auto: JSON lines elsewhere, words on a terminal, colours only when asked for', async () => {
  const file = sink(false);
  (await makeLog({ level: 'info', format: 'auto', output: file.output, color: false })).info({ a: 1 }, 'hi');
  const line = JSON.parse(file.text());
  assert.deepEqual([line.level, line.a, line.msg], ['info', 1, 'hi']);
  const terminal = sink(true);
  (await makeLog({ level: 'info', format: 'auto', output: terminal.output, color: false })).info({ a: 1 }, 'hi');
  const text = terminal.text();
  assert.match(text, /INFO: hi/);
  assert.ok(!text.includes('\u001b['));
});
