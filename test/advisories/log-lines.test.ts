/** Words of strangers in the server's log: names of machines, causes of refusals. A terminal that shows the log must not obey them. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { Output } from '../../src/cli/terminal/io.ts';
import { makeLog } from '../../src/cli/terminal/log.ts';

const EVIL = 'a\n2026-01-01 ERROR faked\r\u001b[2J\u009b31m\u202edne\u2028\u007f';

for (const format of ['pretty', 'json'] as const) {
  test(`log: words of strangers make no line of their own and move no cursor (${format})`, async () => {
    let text = '';
    const output = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    const sink = Object.assign(output, { isTTY: true }) as unknown as Output;
    const log = await makeLog({ level: 'info', format, output: sink, color: false });
    log.child({ agentId: EVIL }).info({ reason: EVIL, error: EVIL, nested: { hostname: EVIL } }, 'agent session ended');
    while (!text.includes('nested')) await new Promise((done) => setImmediate(done));
    assert.doesNotMatch(text, /^2026-01-01/m);
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/);
    assert.match(text, /\\n2026-01-01 ERROR faked\\r\\u001b\[2J\\u009b31m\\u202edne\\u2028\\u007f/);
  });
}
