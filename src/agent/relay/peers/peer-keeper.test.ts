/** What a keeper does to an interface, and what it leaves alone. The interface is a table in memory, the file that of a real agent. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { silentLog } from '../../../base/log.ts';
import { FakeTime } from '../../fixtures/fake-channel.ts';
import { OwnPeers } from './own-peers.ts';
import { type PeerChanges, PeerKeeper } from './peer-keeper.ts';
import { isInterfaceName, type PeerTable, WgError, type WireguardPeer } from './wg.ts';

class FakeTable implements PeerTable {
  readonly all = new Map<string, readonly string[]>();
  id = 'boot:1';
  fault: string | undefined;
  /** Called before peers are put. */
  onPut: () => void = () => undefined;

  instance(): Promise<string> {
    return Promise.resolve(this.id);
  }

  async peers(): Promise<Map<string, readonly string[]>> {
    await setImmediate();
    if (this.fault !== undefined) throw new WgError(this.fault);
    return new Map(this.all);
  }

  put(peers: readonly WireguardPeer[]): Promise<void> {
    this.onPut();
    for (const { key, ips } of peers) this.all.set(key, ips);
    return Promise.resolve();
  }

  remove(key: string): Promise<void> {
    this.all.delete(key);
    return Promise.resolve();
  }
}

class Fixture {
  readonly table = new FakeTable();
  readonly time = new FakeTime();
  readonly changes: PeerChanges[] = [];
  readonly faults: (string | undefined)[] = [];
  readonly own: OwnPeers;
  keeper: PeerKeeper;

  constructor(t: TestContext) {
    const folder = mkdtempSync(join(tmpdir(), 'culvert-peers-'));
    t.after(() => rmSync(folder, { recursive: true }));
    this.own = new OwnPeers(join(folder, 'state', 'wg0.json'), { interface: 'wg0', network_id: 'n' });
    this.keeper = this.start();
    t.after(() => this.keeper.close());
  }

  start(): PeerKeeper {
    return new PeerKeeper({
      table: this.table,
      own: this.own,
      log: silentLog,
      schedule: this.time,
      onChanges: (changes) => this.changes.push(changes),
      onFault: (fault) => this.faults.push(fault),
    });
  }

  /** Another process of the agent. */
  async restart(): Promise<void> {
    await this.keeper.close();
    this.keeper = this.start();
  }

  async want(peers: Readonly<Record<string, string>>): Promise<PeerChanges | undefined> {
    this.changes.length = 0;
    this.keeper.want(Object.entries(peers).map(([key, ips]) => ({ key, ips: ips.split(' ') })));
    await settle();
    return this.changes.at(-1);
  }

  get shown(): Record<string, string> {
    return Object.fromEntries([...this.table.all].map(([key, ips]) => [key, ips.join(' ')]));
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await setImmediate();
}

const NONE = { added: [], changed: [], removed: [], foreign: [] };

test('peer keeper: devices that come, change and go are peers that do', async (t) => {
  const fixture = new Fixture(t);
  const first = await fixture.want({ a: '10.0.0.2/32', b: '10.0.0.3/32' });
  assert.deepEqual(first, { ...NONE, added: ['10.0.0.2/32', '10.0.0.3/32'] });
  const second = await fixture.want({ b: '10.0.0.3/32 192.168.9.0/24', c: '10.0.0.2/32' });
  assert.deepEqual(second, { ...NONE, added: ['10.0.0.2/32'], changed: ['10.0.0.3/32'], removed: ['10.0.0.2/32'] });
  assert.deepEqual(fixture.shown, { b: '10.0.0.3/32 192.168.9.0/24', c: '10.0.0.2/32' });
  assert.equal(await fixture.want({ c: '10.0.0.2/32', b: '192.168.9.0/24 10.0.0.3/32' }), undefined, 'nothing to do');
  await fixture.want({});
  assert.deepEqual(fixture.shown, {});
});

test('peer keeper: a peer that another program has added is never changed or removed', async (t) => {
  const fixture = new Fixture(t);
  fixture.table.all.set('mine', ['10.0.0.9/32']).set('a', ['10.0.0.2/32', '10.7.0.0/24']);
  const changes = await fixture.want({ a: '10.0.0.2/32', b: '10.0.0.3/32', thief: '10.0.0.9/32' });
  assert.deepEqual(changes, { ...NONE, added: ['10.0.0.3/32'], foreign: ['10.0.0.2/32', '10.0.0.9/32'] });
  await fixture.want({});
  assert.deepEqual(fixture.shown, { mine: '10.0.0.9/32', a: '10.0.0.2/32 10.7.0.0/24' });
});

test('peer keeper: a restarted agent knows which peers it has added', async (t) => {
  const fixture = new Fixture(t);
  await fixture.want({ a: '10.0.0.2/32' });
  fixture.table.all.set('mine', ['10.0.0.9/32']);
  await fixture.restart();
  assert.deepEqual(await fixture.want({ b: '10.0.0.3/32' }), {
    ...NONE,
    added: ['10.0.0.3/32'],
    removed: ['10.0.0.2/32'],
  });
  assert.deepEqual(fixture.shown, { mine: '10.0.0.9/32', b: '10.0.0.3/32' });
  assert.equal(statSync(fixture.own.path).mode & 0o777, 0o600);
});

test('peer keeper: a kill before a peer is there leaves it known', async (t) => {
  const fixture = new Fixture(t);
  let written = '';
  fixture.table.onPut = () => {
    written = readFileSync(fixture.own.path, 'utf8');
  };
  await fixture.want({ a: '10.0.0.2/32' });
  assert.deepEqual((JSON.parse(written) as { peers: string[] }).peers, ['a']);
});

test('peer keeper: peers of an interface that was made again belong to the program that made it', async (t) => {
  const fixture = new Fixture(t);
  await fixture.want({ a: '10.0.0.2/32', b: '10.0.0.3/32' });
  // wg-quick has loaded its file, which lists `a`.
  fixture.table.id = 'boot:2';
  fixture.table.all.delete('b');
  assert.deepEqual(await fixture.want({ a: '10.0.0.2/32', b: '10.0.0.3/32' }), {
    ...NONE,
    added: ['10.0.0.3/32'],
    foreign: ['10.0.0.2/32'],
  });
  await fixture.want({});
  assert.deepEqual(fixture.shown, { a: '10.0.0.2/32' });
});

test('peer keeper: an interface that fails is tried again, and looked at without a reason', async (t) => {
  const fixture = new Fixture(t);
  fixture.table.fault = 'there is no WireGuard interface wg0';
  await fixture.want({ a: '10.0.0.2/32' });
  assert.deepEqual(fixture.faults, ['there is no WireGuard interface wg0']);
  fixture.table.fault = undefined;
  await fixture.time.advance(10_000);
  await settle();
  assert.deepEqual(fixture.faults, ['there is no WireGuard interface wg0', undefined]);
  assert.deepEqual(fixture.shown, { a: '10.0.0.2/32' });
  fixture.table.all.clear();
  await fixture.time.advance(60_000);
  await settle();
  assert.deepEqual(fixture.shown, { a: '10.0.0.2/32' });
});

test('peer keeper: a file that is none of its own stops it', async (t) => {
  const fixture = new Fixture(t);
  await fixture.want({ a: '10.0.0.2/32' });
  for (const text of [
    '{',
    'null',
    '{"version":2,"instance":"boot:1","peers":[]}',
    '{"version":1,"instance":"","peers":[1]}',
  ]) {
    writeFileSync(fixture.own.path, text);
    await fixture.want({});
    assert.match(fixture.faults.at(-1) ?? '', /was not written by culvert/, text);
    assert.deepEqual(fixture.shown, { a: '10.0.0.2/32' }, text);
  }
});

test('wg: names of interfaces are no options and no paths', () => {
  for (const name of ['wg0', 'home.lan', 'a_b=c+d-e', 'x'.repeat(15)]) assert.equal(isInterfaceName(name), true, name);
  for (const name of ['', '-h', '.', '../x', 'a/b', 'a b', 'x'.repeat(16), 'wg0\n']) {
    assert.equal(isInterfaceName(name), false, name);
  }
});
