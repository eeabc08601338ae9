/** Requests that succeed only behind something else: a code from an email or an app, a session, another request. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { ProcessWatch } from '../../src/base/process/process-watch.ts';
import { MfaPerson } from '../../src/control/auth/mfa/testing.ts';
import { VISIT } from '../../src/control/core/testing/plane.ts';
import { lastEmail } from '../../src/control/core/testing/outbox.ts';
import { Team } from '../../src/control/core/testing/team.ts';
import type { NamedOperation } from './document.ts';
import type { Caller } from './requests.ts';
import type { ApiTester, Got, Sent } from './tester.ts';

/** What is sent in place of, or beside, the request of the document. */
export type Request = Partial<Omit<Sent, 'method'>>;

const PASSWORD = 'a long password';

/** Makes what the operation needs; returns the request that uses it. */
type Prepare = (tester: ApiTester, caller: Caller) => Promise<Request>;

/** By the name of the operation, which runs on a server without identity provider and payments. */
export const BEHIND: Readonly<Record<string, Prepare>> = {
  'GET /ready': async ({ plane }) => {
    await plane.control.disk.look();
    await plane.control.health.look();
    return {};
  },
  'GET /superadmin/metrics': async ({ plane }) => {
    const process = new ProcessWatch();
    process.close();
    plane.control.operatorMetrics.attach({ process, descriptors: { figures: { limit: 1_024, used: 40, lacks: 0 } } });
    return {};
  },
  'GET /app/assets/{file}': async (tester) => ({ params: { file: await assetOf(tester, '/app/') } }),
  'GET /docs/assets/{file}': async (tester) => ({ params: { file: await assetOf(tester, '/docs/') } }),
  'POST /auth/verify-email-otp': async ({ plane }) => {
    const email = newEmail();
    await plane.control.signUp.signUp({ email, password: PASSWORD, name: '', organizationName: '' }, VISIT);
    return { body: { email, code: lastEmail(plane, email, 'verify_email').code } };
  },
  'POST /auth/reset': async ({ plane }, { person: { email } }) => {
    plane.control.passwordReset.forgot(email, VISIT);
    return { body: { token: lastEmail(plane, email, 'password_reset').token, new_password: PASSWORD } };
  },
  'POST /auth/password': async (_, { person: { password } }) => ({
    body: { current_password: password, new_password: PASSWORD },
  }),
  'POST /auth/cli/token': async (_, { person }) => {
    const device_code = randomBytes(32).toString('base64url');
    await person.call('POST', '/auth/cli/authorize', { device_code });
    return { body: { device_code, session: true } };
  },
  'POST /auth/cli/logout': async (_, { person }) => {
    const device_code = randomBytes(32).toString('base64url');
    const { body } = await person.call('POST', '/auth/cli/authorize', { device_code });
    return { body: { wire_bytes_b64: body['wire_bytes_b64'] } };
  },
  'POST /auth/login/mfa': async ({ plane, api }) => {
    const person = await MfaPerson.protected(plane, api, newEmail());
    return { body: { challenge_token: await person.challenge(), recovery_code: person.codes[0] } };
  },
  'POST /auth/mfa/enroll/verify': async ({ plane, api }) => {
    const person = await MfaPerson.create(plane, api, newEmail());
    await person.enroll();
    return { ...as(person.token), body: { code: person.code() } };
  },
  'POST /auth/mfa/recovery-codes': async ({ plane, api }) => {
    const person = await MfaPerson.protected(plane, api, newEmail());
    return { ...as(person.token), body: { password: person.password } };
  },
  'POST /auth/mfa/disable': async ({ plane, api }) => {
    const person = await MfaPerson.protected(plane, api, newEmail());
    return { ...as(person.token), body: { password: person.password } };
  },
  'DELETE /orgs/{id}': async (_, { person }) => {
    const { body } = await person.call('POST', '/orgs', { name: 'Another' });
    return { params: { id: String(body['id']) } };
  },
  'DELETE /orgs/{id}/members/{user_id}': async ({ plane, api }, { person }) => {
    const member = await new Team(plane, api).member(newEmail(), person, 'member');
    return { params: { id: person.home, user_id: member.id } };
  },
  'POST /orgs/invitations/lookup': async (tester, caller) => ({
    body: { token: (await invited(tester, caller)).token },
  }),
  'POST /alerts/{id}/channels/{channel_id}/resend': async (_, { person }) => {
    const { id, channels } = await waitingAlert(person, newEmail());
    return { params: { id, channel_id: channels[0]?.id ?? '' } };
  },
  'POST /alerts/confirm': async ({ plane }, { person }) => {
    const email = newEmail();
    await waitingAlert(person, email);
    return { body: { token: lastEmail(plane, email, 'alert_confirm').token } };
  },
  'POST /orgs/invitations/accept': async (tester, caller) => {
    const { person, token } = await invited(tester, caller);
    return { ...as(person.token), body: { token } };
  },
  'GET /inspector/shared/{token}': async (_, { person, fixture }) => {
    const { body } = await person.call('POST', `/inspector/${fixture.record}/share`, { expires_in_seconds: 600 });
    return { params: { token: String(body['url']).split('/').at(-1) ?? '' } };
  },
  'DELETE /inspector': async (_, { fixture }) => ({ query: { tunnel_id: fixture.tunnel } }),
  'GET /inspector/ws': async (_, { person }) => ({
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': randomBytes(16).toString('base64'),
      'sec-websocket-protocol': `culvert.inspector, bearer.${person.token}`,
    },
  }),
  'POST /webhooks/{receiver_id}': async (_, { fixture }) => {
    const raw = '{"zen":"Keep it logically awesome."}';
    const signature = createHmac('sha256', 'x').update(raw).digest('hex');
    return {
      params: { receiver_id: fixture.receiver },
      raw,
      headers: { 'x-hub-signature-256': `sha256=${signature}` },
    };
  },
  'GET /webhooks/{receiver_id}': async (_, { person, fixture }) => {
    const { body } = await person.call('GET', `/webhook-receivers/${fixture.receiver}`);
    const token = String(body['verify_token']);
    const query = { 'hub.mode': 'subscribe', 'hub.verify_token': token, 'hub.challenge': '1158201444' };
    return { params: { receiver_id: fixture.receiver }, query };
  },
  'GET /billing/mock-checkout': async (_, { person }) => {
    const { body } = await person.call('POST', '/billing/checkout-session', { plan: 'pro' });
    return { query: Object.fromEntries(new URL(String(body['checkout_url'])).searchParams) };
  },
};

/** Those that need an identity provider, a payment provider, a certificate authority or a release. */
export const BEHIND_OTHERS = [
  'GET /auth/oauth/{provider}/start',
  'POST /auth/oauth/{provider}/start',
  'GET /auth/oauth/{provider}/callback',
  'GET /edge-auth/start',
  'GET /edge-auth/callback',
  'POST /billing/webhook',
  'POST /superadmin/certificates/{name}/renew',
  'GET /download/{file}',
] as const;

/** What the document says otherwise about the response, and a status that is no success. */
export function successFaults(tester: ApiTester, { name, operation }: NamedOperation, got: Got): readonly string[] {
  const failed = got.status < 400 ? [] : [`never succeeded: ${got.status} ${got.text.slice(0, 200)}`];
  return [...tester.faults({ name, method: '', path: '', operation }, got), ...failed].map(
    (fault) => `${name}: ${fault}`,
  );
}

/** Another person than the caller sends. */
function as(token: string): Request {
  return { headers: { authorization: `Bearer ${token}` } };
}

let people = 0;
const newEmail = (): string => `behind${++people}@example.test`;

async function invited({ plane, api }: ApiTester, { person: by }: Caller) {
  const team = new Team(plane, api);
  const person = await team.person(newEmail());
  await by.call('POST', `/orgs/${by.home}/invitations`, { email: person.email, role: 'member' });
  return { person, token: team.inviteToken(person.email) };
}

/** Name of a file that the page loads. */
async function assetOf(tester: ApiTester, page: string): Promise<string> {
  const { text } = await tester.request('GET', page);
  const [, file] = /\bassets\/([\w.-]+)"/.exec(text) ?? [];
  assert.ok(file !== undefined, text.slice(0, 500));
  return file;
}

/** A rule whose only channel waits for its confirmation. */
async function waitingAlert(person: Caller['person'], to: string) {
  const rule = { kind: 'tunnel_offline', for_minutes: 5, channels: [{ type: 'email', to }] };
  const { body } = await person.call('POST', '/alerts', rule);
  return body as unknown as { readonly id: string; readonly channels: ReadonlyArray<{ readonly id: string }> };
}
