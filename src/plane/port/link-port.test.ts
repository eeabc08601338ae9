import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { silentLog } from '../../base/log.ts';
import type { Link } from '../link.ts';
import type { RelayRoute } from '../relays.ts';
import type { Delta, Route, Snapshot } from '../routes.ts';
import { PortCalls } from './calls.ts';
import { linkOverPort, serveLink } from './link-port.ts';

interface Over {
  readonly maxAsks?: number;
  /** Hears what each message brings of relays. */
  readonly sawRelays?: (relays: readonly RelayRoute[]) => void;
}

/** The data node's end of a link whose other end is `own`, as far as a test needs it. */
function over(t: { after(work: () => void): void }, own: Partial<Link>, { maxAsks = 100, sawRelays }: Over = {}): Link {
  const { port1, port2 } = new MessageChannel();
  const onFault = (what: string, error: unknown): never => assert.fail(`${what}: ${String(error)}`);
  const there = new PortCalls(port2, { onFault });
  const stop = serveLink(there, { onDelta: () => () => undefined, ...own } as Link, () => undefined);
  const here = new PortCalls(port1, { onFault, maxAsks });
  port1.on('message', ({ items = [] }: { items?: ReadonlyArray<{ tell?: string; arg: unknown }> }) => {
    for (const { tell, arg } of items)
      if (tell === 'slice') sawRelays?.((arg as { relays: readonly RelayRoute[] }).relays);
  });
  t.after(() => {
    stop();
    here.close('the test is over');
    port1.close();
    port2.close();
  });
  return linkOverPort(here, silentLog);
}

const route = (tunnelId: string): Route => ({ tunnelId }) as Route;

test('link over a port: a snapshot of many routes comes whole and in order, and changes meanwhile come beside it', async (t) => {
  const routes = Array.from({ length: 1_100 }, (_, i) => route(`t${i}`));
  let tell: ((delta: Delta) => void) | undefined;
  const link = over(t, {
    onDelta: (listener) => {
      tell = listener;
      return () => undefined;
    },
    snapshot: async () => {
      setImmediate(() => tell?.({ version: 8, kind: 'put', route: route('late') }));
      return { version: 7, routes, accessKeys: [], visitorKey: '', relays: [] } satisfies Snapshot;
    },
  });
  const heard: number[] = [];
  link.onDelta(({ version }) => heard.push(version));
  const snapshot = await link.snapshot();
  assert.deepEqual([snapshot.version, snapshot.routes], [7, routes]);
  assert.deepEqual(heard, [8]);
});

test('link over a port: relays of a snapshot come whole and in order, and no message has more than a thousand devices', async (t) => {
  const relay = (networkId: string, devices: number): RelayRoute =>
    ({
      networkId,
      devices: Array.from({ length: devices }, (_, n) => ({ deviceId: `${networkId}-${n}` })),
    }) as unknown as RelayRoute;
  const relays = [relay('empty', 0), relay('large', 2_500), relay('small', 3), relay('round', 998), relay('last', 0)];
  const sizes: number[] = [];
  const link = over(
    t,
    { snapshot: async () => ({ version: 7, routes: [], accessKeys: [], visitorKey: '', relays }) },
    { sawRelays: (some) => sizes.push(some.reduce((sum, { devices }) => sum + devices.length, 0)) },
  );
  assert.deepEqual((await link.snapshot()).relays, relays);
  assert.deepEqual((await link.snapshot()).relays, relays, 'nothing of the first one is left');
  assert.ok(sizes.length >= 8 && Math.max(...sizes) <= 1_000, String(sizes));
});

test('link over a port: a second look at keys is answered in their order, and rejects when the control plane can not say', async (t) => {
  const fine = over(t, {
    recheck: async (ids) => ids.map((id) => ({ ok: false, code: 'unauthorized', message: id })),
  });
  assert.deepEqual(
    (await fine.recheck(['a', 'b'])).map((answer) => !answer.ok && answer.message),
    ['a', 'b'],
  );
  const failing = over(t, { recheck: () => Promise.reject(new Error('the disk is full')) });
  await assert.rejects(failing.recheck(['a']), /the disk is full/);
});

test('link over a port: questions of agents beyond the bound are refused at once as overloaded while the control plane gives no answer', async (t) => {
  const never = new Promise<never>(() => undefined);
  const link = over(t, { admit: () => never, claim: () => never }, { maxAsks: 2 });
  const underWay = [link.admit('first'), link.admit('second')];
  const refused = await Promise.all([link.admit('third'), link.claim({} as never), link.attach({} as never)]);
  for (const answer of refused) assert.equal(!answer.ok && answer.code, 'overloaded');
  assert.equal(await Promise.race([...underWay, Promise.resolve('none yet')]), 'none yet');
});
