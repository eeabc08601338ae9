/** The corpus and the short form of the fast smuggling fuzzers, on an edge without sockets. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { rounds } from '../../src/base/testing.ts';
import { DryEdge } from './dry-edge.ts';
import { readRequest } from './reference.ts';
import { shrink } from './shrink.ts';
import { fuzzSmuggling } from './smuggling.fuzz.ts';
import { judgeRequest } from './smuggling.ts';
import { CORPUS } from './smuggling-corpus.ts';

const edge = new DryEdge();
after(() => edge.close());

test(`${CORPUS.length} known ways to smuggle: each is served as what it is, or refused`, () => {
  for (const { name, text, served, statuses } of CORPUS) {
    for (const step of [0, 1, 7]) {
      assert.deepEqual(run(text, step), { served, statuses }, `${name}, in pieces of ${step}`);
      assert.equal(typeof judgeRequest(edge, { text, step }), 'object', name);
    }
  }
  assert.equal(new Set(CORPUS.map(({ name }) => name)).size, CORPUS.length, 'each has a name of its own');
});

const CASES = rounds(5_000, 20_000);

test(`${CASES} hostile requests and responses: one request per head, one response per request`, () => {
  const report = fuzzSmuggling({ seed: 20_261_121, cases: CASES });
  assert.equal(report.cases, CASES);
  // Cases that are all refused, or all served, would test nothing.
  const share = (count: number): number => count / CASES;
  assert.ok(report.served < report.meant, JSON.stringify(report));
  assert.ok(share(report.served) > 0.075 && share(report.meant) < 0.5, JSON.stringify(report));
  assert.ok(share(report.streams) > 0.025, `${report.streams} of HTTP/2`);
  for (const outcome of ['answered', 'refused', 'cut', 'waits'])
    assert.ok(share(report.outcomes.get(outcome) ?? 0) > 0.005, `${outcome}: ${report.outcomes.get(outcome)}`);
});

test('a seed gives the same cases again', () => {
  const seen = (): string => JSON.stringify([...fuzzSmuggling({ seed: 7, cases: 2_000 }).outcomes]);
  assert.equal(seen(), seen());
});

test('a failing case is made as small as it still fails', () => {
  const fails = (text: string): boolean => text.includes('a') && text.includes('zz');
  assert.equal(shrink('xxxxaxxxxxxxxxzzzzzzxxxxxxx', fails), 'azz');
  assert.equal(
    shrink('', () => true),
    '',
  );
});

/** The request at the service and the response at the visitor. */
function run(text: string, step: number): { served: string[]; statuses: number[] } {
  edge.begin();
  const visitor = edge.visit();
  const served: string[] = [];
  const size = step === 0 ? text.length : step;
  for (let at = 0; at < text.length; at += size) {
    visitor.send(text.slice(at, at + size));
    for (let i = 0; i < edge.streams.length; i++) {
      const stream = edge.streams[i];
      const reading = stream === undefined || stream.gone ? 'more' : readRequest(stream.text, stream.read);
      if (stream === undefined || reading === 'more' || 'bad' in reading) continue;
      stream.read = reading.next;
      served.push(`${reading.first} ${reading.second} ${reading.body}`);
      stream.say('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      i = -1;
    }
  }
  const statuses = [...visitor.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
  visitor.leave();
  return { served, statuses };
}
