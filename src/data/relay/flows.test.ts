/** The number of clients, the one that goes when there are too many, and the datagrams to an unproven address. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { FLOW_IDLE_MS } from '../../wire/relay-packets.ts';
import { FlowBudget, OWN_FLOWS } from './flow-budget.ts';
import { type Arrival, type Flow, Flows, MAX_FLOWS } from './flows.ts';

class Fixture {
  nowMs = 0;
  readonly gone: Flow[] = [];
  readonly flows: Flows;

  constructor(budget: FlowBudget = new FlowBudget(0), orgId: string = randomUUID()) {
    this.flows = new Flows({ orgId, budget, nowMs: 0, onGone: (flow) => this.gone.push(flow) });
  }

  /** A client's datagram; 100 ms later than the one before, so that the allowance of new flows is not what is tested. */
  hear(address: string, port: number, { bytes = 100, isData = false } = {}): Flow | undefined {
    this.nowMs += 100;
    const flow = this.flows.find(address, port) ?? this.flows.open(address, port, this.nowMs, 'stranger');
    if (flow !== undefined) this.flows.heard(flow, bytes, isData, this.nowMs);
    return flow;
  }

  must(address: string, port: number): Flow {
    const flow = this.hear(address, port);
    assert.ok(flow !== undefined, `${address} ${port}`);
    return flow;
  }

  prove(address: string, port: number): Flow {
    const flow = this.hear(address, port, { isData: true });
    assert.ok(flow !== undefined && this.flows.maySend(flow, 32, true) && flow.isProven);
    return flow;
  }
}

describe('looking up', () => {
  test('each address and port has a flow of its own, found by both and by number', () => {
    const fixture = new Fixture();
    const all = ['192.0.2.1', '192.0.2.2', '2001:db8::1'].flatMap((address) =>
      [1, 2, 65_535].map((port) => fixture.must(address, port)),
    );
    assert.equal(new Set(all.map(({ number }) => number)).size, 9);
    for (const flow of all) {
      assert.equal(fixture.flows.find(flow.address, flow.port), flow);
      assert.equal(fixture.flows.at(flow.number), flow);
    }
    assert.equal(fixture.flows.find('192.0.2.1', 3), undefined);
    assert.equal(fixture.flows.find('192.0.2.3', 1), undefined);
    assert.equal(fixture.flows.at(0), undefined);
    assert.equal(fixture.flows.at(10), undefined);
  });

  test('a flow that was cut is not found, and its number is not used again soon', () => {
    const fixture = new Fixture();
    const flow = fixture.must('192.0.2.1', 1);
    const other = fixture.must('192.0.2.1', 2);
    fixture.flows.cut(flow);
    fixture.flows.cut(flow);
    assert.deepEqual(fixture.gone, [flow]);
    assert.equal(fixture.flows.size, 1);
    assert.equal(fixture.flows.at(flow.number), undefined);
    assert.equal(fixture.flows.find('192.0.2.1', 2), other);
    assert.notEqual(fixture.must('192.0.2.1', 1).number, flow.number);
  });

  test('a client that is silent for three minutes is forgotten, proven or not', () => {
    const fixture = new Fixture();
    const silent = [fixture.must('192.0.2.1', 1), fixture.prove('192.0.2.1', 2)];
    fixture.nowMs += FLOW_IDLE_MS / 2;
    const heard = fixture.must('192.0.2.1', 3);
    fixture.nowMs += FLOW_IDLE_MS / 2;
    fixture.flows.expire(fixture.nowMs);
    assert.deepEqual(fixture.gone, silent);
    assert.equal(fixture.flows.at(heard.number), heard);
  });
});

describe('an unproven address', () => {
  test('is sent no more bytes and no more datagrams than came from it', () => {
    const fixture = new Fixture();
    const flow = fixture.must('192.0.2.1', 1);
    fixture.hear('192.0.2.1', 1, { bytes: 0 });
    assert.equal(fixture.flows.maySend(flow, 101, false), false);
    assert.equal(fixture.flows.maySend(flow, 60, false), true);
    assert.equal(fixture.flows.maySend(flow, 41, false), false);
    assert.equal(fixture.flows.maySend(flow, 40, false), true);
    // Empty ones too: each costs who gets it a packet.
    assert.equal(fixture.flows.maySend(flow, 0, false), false);
    fixture.hear('192.0.2.1', 1, { bytes: 0 });
    assert.equal(fixture.flows.maySend(flow, 1, false), false);
    assert.equal(fixture.flows.maySend(flow, 0, false), true);
  });

  test('is proven by a data packet of its own and the answer to it, not by one of the two', () => {
    const fixture = new Fixture();
    const flow = fixture.must('192.0.2.1', 1);
    assert.equal(fixture.flows.maySend(flow, 1_000, true), false, 'the server alone');
    fixture.hear('192.0.2.1', 1, { bytes: 32, isData: true });
    assert.equal(fixture.flows.maySend(flow, 1_000, false), false, 'the client alone');
    assert.equal(fixture.flows.maySend(flow, 1_000, true), true);
    assert.equal(fixture.flows.maySend(flow, 60_000, false), true, 'from then on all passes');
  });
});

describe('when there are too many', () => {
  test('the unproven flow that was silent for longest goes, and no proven one', () => {
    const fixture = new Fixture();
    const proven = Array.from({ length: MAX_FLOWS - 3 }, (_, i) => fixture.prove('192.0.2.1', i + 1));
    const [first, second, third] = [1, 2, 3].map((port) => fixture.must('192.0.2.2', port));
    fixture.must('192.0.2.2', 1);
    fixture.must('192.0.2.3', 1);
    assert.deepEqual(fixture.gone, [second]);
    fixture.must('192.0.2.3', 2);
    assert.deepEqual(fixture.gone, [second, third]);
    fixture.prove('192.0.2.3', 1);
    fixture.prove('192.0.2.3', 2);
    fixture.must('192.0.2.3', 3);
    assert.deepEqual(fixture.gone, [second, third, first]);
    fixture.prove('192.0.2.3', 3);
    assert.equal(fixture.hear('192.0.2.4', 1), undefined);
    assert.equal(fixture.flows.size, MAX_FLOWS);
    for (const flow of proven) assert.equal(fixture.flows.at(flow.number), flow);
    fixture.flows.cut(proven[0] as Flow);
    assert.ok(fixture.hear('192.0.2.4', 1) !== undefined);
  });

  test('a network gets 500 new clients at once, and 100 a second', () => {
    const { flows } = new Fixture();
    const opened = (nowMs: number, arrival: Arrival = 'stranger'): number => {
      let count = 0;
      for (let port = 1; port <= 3_000; port++)
        if (flows.open(`at ${nowMs}`, port, nowMs, arrival) !== undefined) count++;
      return count;
    };
    assert.equal(flows.isRush(0), false);
    assert.deepEqual([opened(0), opened(1_000), opened(1_500)], [500, 100, 50]);
    assert.equal(flows.isRush(1_500), true);
    // Who has shown something has as much apart.
    assert.deepEqual([opened(1_501, 'mac1'), opened(2_501, 'mac1')], [500, 100]);
    assert.deepEqual([opened(2_502, 'session'), opened(3_502, 'session')], [500, 100]);
  });

  test('forged addresses at one network displace its own and no other', () => {
    const budget = new FlowBudget(0, 100);
    const [attacked, other] = [new Fixture(budget), new Fixture(budget)];
    const others = Array.from({ length: 40 }, (_, i) => other.must('192.0.2.1', i + 1));
    for (let port = 1; port < 500; port++) attacked.must('198.51.100.1', port);
    assert.equal(budget.used, 100);
    assert.deepEqual(other.gone, []);
    // A client of the other network takes the place of one of the forged.
    others.push(other.must('192.0.2.2', 1));
    assert.equal(budget.used, 100);
    assert.equal(attacked.flows.size, 59);
    assert.equal(other.flows.size, others.length);
  });

  test('a node full of proven clients has room for the first few of each network', () => {
    const budget = new FlowBudget(0, 50);
    const full = new Fixture(budget);
    for (let port = 1; port <= 50; port++) full.prove('192.0.2.1', port);
    assert.equal(full.hear('192.0.2.1', 51), undefined);
    const same = new Fixture(budget, full.flows.orgId);
    for (let port = 1; port <= OWN_FLOWS; port++) same.prove('192.0.2.1', port);
    assert.equal(same.hear('192.0.2.1', 100), undefined, 'more than its share has its organization already');
    assert.deepEqual([budget.used, full.gone, same.gone], [50 + OWN_FLOWS, [], []]);
    full.flows.clear();
    same.flows.clear();
    assert.equal(budget.used, 0);
  });

  test('who fills the node with clients of his own making gives up to another organization, up to its share', () => {
    const budget = new FlowBudget(0, 400);
    const filler = randomUUID();
    const full = Array.from({ length: 4 }, () => new Fixture(budget, filler));
    for (const fixture of full) for (let port = 1; port <= 100; port++) fixture.prove('192.0.2.1', port);
    const [one, two] = [new Fixture(budget), new Fixture(budget)];
    // Not yet proven, as all are that come anew.
    for (let port = 1; port <= 100; port++) one.must('198.51.100.1', port);
    for (let port = 1; port <= 100; port++) one.prove('198.51.100.1', port);
    for (let port = 1; port <= 130; port++) two.prove('198.51.100.2', port);
    const used = (): number => full.reduce((sum, { flows }) => sum + flows.size, 0);
    assert.deepEqual([one.flows.size, two.flows.size, one.gone, two.gone], [100, 130, [], []]);
    // Those whose clients had been silent for longest went, of each network alike.
    for (const { gone, flows } of full) {
      assert.ok(Math.abs(flows.size - used() / 4) <= 1);
      assert.deepEqual(
        gone.map(({ port }) => port),
        gone.map((_, i) => i + 1),
      );
    }
    // The filler has more than the others: what comes to it anew finds no room, and displaces none.
    const before = used();
    assert.equal(full[0]?.hear('203.0.113.1', 1), undefined);
    // Once all have as much, none takes of another.
    for (let port = 1; port <= 100; port++) one.hear('198.51.100.3', port, { isData: true });
    assert.ok(used() <= before && one.flows.size <= used() + 1);
    assert.deepEqual(two.gone, []);
    assert.ok(budget.used <= 400 + 2 * OWN_FLOWS);
  });

  test('forged addresses take a bounded number of proven clients of a larger organization', () => {
    const budget = new FlowBudget(0, 1_000);
    const [large, flooded] = [new Fixture(budget), new Fixture(budget)];
    for (let port = 1; port <= 1_000; port++) large.prove('192.0.2.1', port);
    for (let port = 1; port <= 2_000; port++) flooded.hear('198.51.100.1', port);
    assert.ok(large.gone.length <= 129, `${large.gone.length}`);
    // And a client of the large one takes the place of a forged one.
    const [unproven, gone] = [flooded.flows.unproven, large.gone.length];
    assert.ok(unproven > 128);
    large.must('192.0.2.2', 1);
    assert.deepEqual([flooded.flows.unproven, large.gone.length], [unproven - 1, gone]);
  });
});
