// group: fuzz
/** The short form of http.fuzz.ts: some thousand cases of one seed against each service that is installed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caseOf, randomOf } from './cases.ts';
import { fuzzHttp } from './http.ts';
import { noOrigin, type OriginName } from './http-origins.ts';

/**
 * What llhttp refuses and the edge takes, each judged harmless: methods that it does not know and bytes beyond ASCII in a target
 * (one token to every parser), fields that no trailer may have and empty chunk extensions (the edge leaves both out).
 */
const JUDGED = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_URL', 'HPE_INVALID_CONTENT_LENGTH', 'HPE_STRICT']);

const SHARE: ReadonlyArray<readonly [OriginName, number]> = [
  ['node', 4_000],
  ['go', 1_000],
  ['python', 1_000],
  ['nginx', 1_000],
];

for (const [name, cases] of SHARE) {
  test(`${cases} hostile cases before ${name}: no request reaches it that the edge did not send`, {
    timeout: 120_000,
    skip: noOrigin(name),
  }, async (t) => {
    const report = await fuzzHttp(name, { seed: 20_261_121, cases }, t);
    // Cases that all pass, or all fail, would test nothing.
    assert.ok(report.forwarded > cases / 10, `${report.forwarded} forwarded`);
    assert.ok(report.forwarded < cases * 2);
    if (name === 'node') assert.ok(report.stricter > cases / 100, `stricter in ${report.stricter}`);
    assert.deepEqual(
      [...report.laxer.keys()].filter((code) => !JUDGED.has(code)),
      [],
    );
  });
}

test('a seed gives the same cases again, and none says what only the edge may', () => {
  const [first, second] = [randomOf(7), randomOf(7)];
  for (let i = 0; i < 1_000; i++) {
    const text = caseOf(first);
    assert.equal(caseOf(second), text);
    assert.doesNotMatch(text, /127\.0\.0\.1/);
  }
});
