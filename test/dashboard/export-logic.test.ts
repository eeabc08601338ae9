/** What the export's form sends, and what it keeps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bodyOf,
  CHECKS,
  type Export,
  keepsHeaders,
  keepsSecret,
  valuesOf,
  withoutSecret,
} from '../../src/dashboard/pages/export/export-values.ts';

const SAVED: Export = {
  events: ['audit'],
  otlp: { endpoint: 'https://otlp.example.com', headers: ['authorization'] },
  webhook: { url: 'https://siem.example.com/in', new_secret: null },
  status: { otlp: null, webhook: null },
  updated_at: '2026-11-26T17:00:00.000Z',
};

test('export form: what was not touched is sent without its secrets, so that they stay', () => {
  assert.deepEqual(bodyOf(valuesOf(SAVED)), {
    events: ['audit'],
    otlp: { endpoint: 'https://otlp.example.com' },
    webhook: { url: 'https://siem.example.com/in' },
  });
});

test('export form: replaced headers are sent whole, without empty rows, and none removes them', () => {
  const values = valuesOf(SAVED);
  values.headers = [
    { key: '1', name: ' X-Key ', value: ' abc ' },
    { key: '2', name: '', value: '' },
  ];
  values.secret = ' whsec_abc ';
  assert.deepEqual(bodyOf(values).otlp, { endpoint: 'https://otlp.example.com', headers: { 'X-Key': 'abc' } });
  assert.equal(bodyOf(values).webhook?.secret, 'whsec_abc');
  assert.deepEqual(bodyOf({ ...values, headers: [] }).otlp?.headers, {});
});

test('export form: saved secrets stay for their own address alone', () => {
  assert.ok(keepsHeaders(SAVED, ' https://otlp.example.com '));
  assert.ok(!keepsHeaders(SAVED, 'https://otlp.example.net'));
  assert.ok(!keepsHeaders({ ...SAVED, otlp: { endpoint: 'https://a.example', headers: [] } }, 'https://a.example'));
  assert.ok(keepsSecret(SAVED, 'https://siem.example.com/in'));
  assert.ok(!keepsSecret(SAVED, 'https://siem.example.com/'));
});

test('export form: a destination that is off is null, and its fields are not checked', () => {
  const off = { ...valuesOf(SAVED), toCollector: false, toWebhook: false, events: [] };
  assert.deepEqual(bodyOf(off), { events: [], otlp: null, webhook: null });
  assert.equal(CHECKS.events([], off), null);
  assert.equal(CHECKS.url('', off), null);
  const on = { ...off, toWebhook: true, url: ' ' };
  assert.equal(CHECKS.url(on.url, on), 'Enter the URL.');
  assert.equal(CHECKS.events([], on), 'Select at least one event.');
});

test('export form: a repeated header name is a problem of the later field, whatever its case', () => {
  const values = {
    ...valuesOf(SAVED),
    headers: ['X-Key', '', 'Other', ' x-key', ''].map((name, at) => ({ key: String(at), name, value: 'v' })),
  };
  const problems = values.headers.map(({ name }, at) => CHECKS.headers.name(name, values, `headers.${at}.name`));
  const problem = 'Another header has this name. Remove one of them.';
  assert.deepEqual(problems, [null, null, null, problem, null]);
  assert.equal(CHECKS.headers.name(' x-key', { ...values, toCollector: false }, 'headers.3.name'), null);
});

test('export form: the view that is kept has no secret', () => {
  const view = { ...SAVED, webhook: { url: 'https://siem.example.com/in', new_secret: 'whsec_abc' } };
  assert.deepEqual(withoutSecret(view), SAVED);
  assert.equal(withoutSecret({ ...SAVED, webhook: null }).webhook, null);
});
