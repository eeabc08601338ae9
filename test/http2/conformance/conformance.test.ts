/** The 146 cases of h2spec against the edge as a visitor sees it: TLS, ALPN, a tunnel and a service behind it. All use one edge. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { httpOrigin, Rig } from '../../../src/data/edge/testing/rig.ts';
import { inReverse } from '../../harness/ends.ts';
import { ENGINE } from '../engines.ts';
import { RawClient, Unmet } from '../raw-client.ts';
import type { Case } from './case.ts';
import { BODIES, CONTROLS, WINDOWS } from './definitions.ts';
import { GENERIC } from './generic.ts';
import { HPACK } from './hpack.ts';
import { FAILING } from './known.ts';
import { MESSAGES } from './messages.ts';
import { CONNECTIONS, STREAMS } from './streams.ts';

const WITHIN = { timeout: 60_000 };
/** A case that is known to fail waits so long for what does not come. */
const SILENCE_MS = 250;
const CASES: readonly Case[] = [
  ...GENERIC,
  ...CONNECTIONS,
  ...STREAMS,
  ...BODIES,
  ...CONTROLS,
  ...WINDOWS,
  ...MESSAGES,
  ...HPACK,
];
const failing = FAILING[ENGINE];

let rig: Rig;
const ends = inReverse({ after });
before(async () => {
  rig = await Rig.start(ends, { http2: ENGINE });
  const origin = await httpOrigin(ends, (incoming, response) => {
    incoming.resume().on('end', () => response.end('hello, world'));
  });
  await rig.serve('shop', origin.port);
});

for (const { id, rfc, title, run } of CASES) {
  test(`h2spec ${id} (${rfc}) ${title}`, WITHIN, async (t) => {
    const reason = failing[id];
    const client = await RawClient.connect(rig.httpsPort, reason === undefined ? undefined : SILENCE_MS);
    t.after(() => client.destroy());
    if (reason === undefined) await run(client);
    else await assert.rejects(() => run(client), Unmet, `mended, no longer: ${reason}`);
  });
}

test('h2spec: all 146 cases are here, and each known failure is one of them', () => {
  const ids = CASES.map(({ id }) => id);
  assert.equal(new Set(ids).size, 146);
  assert.equal(ids.length, 146);
  assert.deepEqual(
    Object.keys(failing).filter((id) => !ids.includes(id)),
    [],
  );
});
