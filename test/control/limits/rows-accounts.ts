/** The rows of the table of limits about accounts and sessions. */
import { codeAt } from '../../harness/authenticator.ts';
import { elsewhere, met, type Row } from './row.ts';
import { type Caller, type LimitFixture, valueIn } from './fixture.ts';
import { lastEmail } from '../../../src/control/core/testing/outbox.ts';
import { said } from '../../../src/control/core/testing/team.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const OK = [200];
const LIMITED = [429, 'rate_limited'];
const WRONG_SECRET = [401, 'unauthorized'];
const BAD_CODE = [400, 'invalid_code'];
const INVALID = [400, 'invalid_request'];
const UNKNOWN = [404, 'not_found'];
const EMAIL = 'new@example.test';
const PASSWORD = 'correct horse battery';

/** A request that checks a secret, from the address with this number. */
const knock = async (w: LimitFixture, from: number) => said(await w.send('POST', '/auth/refresh', { from, body: {} }));
const lookUp = async (w: LimitFixture, from: number) =>
  said(await w.send('POST', '/orgs/invitations/lookup', { from, body: { token: 'x' } }));
const signUp = (w: LimitFixture, password = PASSWORD) =>
  w.send('POST', '/auth/signup', { body: { email: EMAIL, password } });
const verify = async (w: LimitFixture, code: string) =>
  said(await w.send('POST', '/auth/verify-email-otp', { body: { email: EMAIL, code } }));
const codeOf = (w: LimitFixture) => lastEmail(w.plane, EMAIL, 'verify_email').code;
const another = (code: string, by: number) => String((Number(code) + by) % 1_000_000).padStart(6, '0');
const reset = async (w: LimitFixture, token: string, new_password = PASSWORD) =>
  said(await w.send('POST', '/auth/reset', { body: { token, new_password } }));

async function resetLink(w: LimitFixture): Promise<string> {
  const { email } = w.caller();
  await w.send('POST', '/auth/forgot', { body: { email } });
  return lastEmail(w.plane, email, 'password_reset').token;
}

/** The second factor is on; its recovery codes. */
async function recoveryCodes(w: LimitFixture, { done }: Caller): Promise<readonly string[]> {
  const { secret_base32: secret } = await done('POST', '/auth/mfa/enroll');
  const verified = await done('POST', '/auth/mfa/enroll/verify', { code: codeAt(String(secret), w.plane.now, 0) });
  return verified['recovery_codes'] as string[];
}

export const accountLimits = (): readonly Row[] => [
  met<number>({
    limit: '`/auth/*`: burst',
    value: '5 requests per address',
    meet: async (w, requests) => {
      for (let i = 1; i < requests; i++) await knock(w, 1);
      return knock(w, 1);
    },
    below: [[4, WRONG_SECRET]],
    at: [[5, WRONG_SECRET]],
    above: [[6, LIMITED]],
  }),
  met<number>({
    limit: '`/auth/*`: rate',
    value: 'then 1 request per 12 seconds',
    meet: async (w, waitedMs) => {
      for (let i = 0; i < 5; i++) await knock(w, 1);
      w.at(waitedMs);
      return [...(await knock(w, 1)), ...(await knock(w, 1))];
    },
    below: [[12 * SECOND - 1, [...LIMITED, ...LIMITED]]],
    at: [[12 * SECOND, [...WRONG_SECRET, ...LIMITED]]],
    above: [
      [24 * SECOND - 1, [...WRONG_SECRET, ...LIMITED]],
      [24 * SECOND, [...WRONG_SECRET, ...WRONG_SECRET]],
    ],
  }),
  met<number>({
    limit: '`POST /orgs/invitations/lookup`',
    value: 'the same, counted separately',
    meet: async (w, requests) => {
      // What `/auth/*` has taken takes nothing here.
      for (let i = 0; i < 6; i++) await knock(w, 1);
      for (let i = 1; i < requests; i++) await lookUp(w, 1);
      return lookUp(w, 1);
    },
    below: [[4, UNKNOWN]],
    at: [[5, UNKNOWN]],
    above: [[6, LIMITED]],
  }),
  met<number>({
    limit: '`POST /alerts/confirm`',
    value: 'the same, also counted separately',
    meet: async (w, requests) => {
      for (let i = 0; i < 6; i++) await knock(w, 1);
      const confirm = async () => said(await w.send('POST', '/alerts/confirm', { from: 1, body: { token: 'x' } }));
      for (let i = 1; i < requests; i++) await confirm();
      return confirm();
    },
    below: [[4, UNKNOWN]],
    at: [[5, UNKNOWN]],
    above: [[6, LIMITED]],
  }),
  met<number>({
    limit: 'Other API routes',
    value: 'no rate limit',
    meet: async (w, requests) => {
      const { call } = w.caller();
      for (let i = 1; i < requests; i++) await call('GET', '/tunnels');
      return said(await call('GET', '/tunnels'));
    },
    below: [[4, OK]],
    at: [[5, OK]],
    above: [[200, OK]],
  }),
  met<number>({
    limit: 'Access token',
    value: '15 minutes',
    meet: async (w, ageMs) => {
      const { call } = w.caller();
      w.at(ageMs);
      return said(await call('GET', '/tunnels'));
    },
    below: [[15 * MINUTE - 1, OK]],
    at: [[15 * MINUTE, WRONG_SECRET]],
    above: [[15 * MINUTE + 1, WRONG_SECRET]],
  }),
  met<number>({
    limit: 'Sign-up code',
    value: '6 digits',
    meet: async (w, digits) => {
      await signUp(w);
      return verify(w, codeOf(w).padEnd(digits, '0').slice(0, digits));
    },
    below: [[5, BAD_CODE]],
    at: [[6, OK]],
    above: [[7, BAD_CODE]],
  }),
  met<number>({
    limit: 'Sign-up code: lifetime',
    value: '10 minutes after the last email',
    meet: async (w, ageMs) => {
      await signUp(w);
      // The first one has one minute left: the second begins anew.
      w.at(9 * MINUTE);
      await w.send('POST', '/auth/resend-verify-otp', { body: { email: EMAIL } });
      w.at(9 * MINUTE + ageMs);
      return verify(w, codeOf(w));
    },
    below: [[10 * MINUTE - 1, OK]],
    at: [[10 * MINUTE, BAD_CODE]],
    above: [[10 * MINUTE + 1, BAD_CODE]],
  }),
  met<number>({
    limit: 'Sign-up code: attempts',
    value: '5',
    meet: async (w, wrong) => {
      await signUp(w);
      const code = codeOf(w);
      for (let i = 1; i <= wrong; i++) await verify(w, another(code, i));
      return verify(w, code);
    },
    below: [[4, OK]],
    at: [[5, BAD_CODE]],
    above: [[6, BAD_CODE]],
  }),
  met<number>({
    limit: 'Password reset link',
    value: '1 hour, single use',
    meet: async (w, ageMs) => {
      const link = await resetLink(w);
      w.at(ageMs);
      return reset(w, link);
    },
    below: [[HOUR - 1, OK]],
    at: [[HOUR, BAD_CODE]],
    above: [[HOUR + 1, BAD_CODE]],
  }),
  met<number>({
    limit: 'Password reset token, uses',
    value: 'single use',
    meet: async (w, use) => {
      const link = await resetLink(w);
      for (let i = 1; i < use; i++) await reset(w, link);
      return use === 0 ? said(await w.caller().call('GET', '/auth/me')) : reset(w, link);
    },
    below: [[0, OK]],
    at: [[1, OK]],
    above: [[2, BAD_CODE]],
  }),
  met<number>({
    limit: 'Password',
    value: '12 to 256 characters',
    meet: async (w, length) => said(await signUp(w, 'p'.repeat(length))),
    below: [[11, INVALID]],
    at: [
      [12, [201]],
      [256, [201]],
    ],
    above: [
      [13, [201]],
      [257, INVALID],
    ],
  }),
  met<number>({
    limit: 'New password by a reset',
    value: '12 to 256 characters',
    meet: async (w, length) => reset(w, await resetLink(w), 'p'.repeat(length)),
    below: [[11, INVALID]],
    at: [
      [12, OK],
      [256, OK],
    ],
    above: [
      [13, OK],
      [257, INVALID],
    ],
  }),
  met<number>({
    limit: 'New password of somebody logged in',
    value: '12 to 256 characters',
    meet: async (w, length) => {
      const { call, password } = w.caller();
      const body = { current_password: password, new_password: 'p'.repeat(length) };
      return said(await call('POST', '/auth/password', body));
    },
    below: [[11, INVALID]],
    at: [
      [12, OK],
      [256, OK],
    ],
    above: [
      [13, OK],
      [257, INVALID],
    ],
  }),
  met<number>({
    limit: 'MFA recovery codes',
    value: '10, single use each',
    meet: async (w, use) => {
      const caller = w.caller();
      const codes = await recoveryCodes(w, caller);
      const { email, password } = caller;
      const logIn = async (recovery_code: string): Promise<unknown> => {
        const first = await w.send('POST', '/auth/login', { body: { email, password } });
        const { challenge_token } = first.body;
        return said(await w.send('POST', '/auth/login/mfa', { body: { challenge_token, recovery_code } }));
      };
      for (const code of codes.slice(0, use - 1)) await logIn(code);
      // Past the last one there is only one that was used.
      return logIn(codes[use - 1] ?? codes[0] ?? '');
    },
    below: [[9, OK]],
    at: [[10, OK]],
    above: [[11, WRONG_SECRET]],
  }),
  met<number>({
    limit: 'Key of `culvert login`',
    value: '90 days',
    meet: async (w, ageMs) => {
      const { done } = w.caller();
      const device_code = Buffer.alloc(32, 7).toString('base64url');
      const { wire_bytes_b64 } = await done('POST', '/auth/cli/authorize', { device_code });
      w.at(ageMs);
      return w.admitted(wire_bytes_b64);
    },
    below: [[90 * DAY - 1, 'ok']],
    at: [[90 * DAY, 'unauthorized']],
    above: [[90 * DAY + 1, 'unauthorized']],
  }),
  met<string>({
    limit: 'Agent authorization code',
    value: '32 bytes, 43 characters',
    meet: async (w, device_code) => {
      const { call } = w.caller();
      return valueIn(await call('POST', '/auth/cli/authorize', { device_code }), ({ label }) => typeof label);
    },
    below: [['A'.repeat(42), INVALID]],
    at: [['A'.repeat(43), 'string']],
    above: [['A'.repeat(44), INVALID]],
  }),
  elsewhere(
    'Organizations that a user owns',
    '20; 40 new ones in 24 hours',
    [
      'src/control/organizations/service.test.ts',
      'organizations: a user owns at most 20, also with 30 requests at once',
    ],
    [
      'src/control/organizations/service.test.ts',
      'organizations: a user creates at most 40 in a day, also when each is deleted',
    ],
  ),
  elsewhere('Members of an organization', '1,000', [
    'src/control/organizations/invitations.test.ts',
    'invitations: a full organization admits no member and the invitation stays',
  ]),
  elsewhere('Open invitations of an organization', '100, for 7 days', [
    'src/control/organizations/invitations.test.ts',
    'invitations: emails are limited: 5 at once to an address, 100 open, 200 in a day',
  ]),
  elsewhere('Invitations by a user', '200 in 24 hours', [
    'src/control/organizations/invitations.test.ts',
    'invitations: emails are limited: 5 at once to an address, 100 open, 200 in a day',
  ]),
  elsewhere(
    'Entry of the audit log',
    '30 changed fields, 500 characters of each value, 256 of the name; longer ones are cut',
    [
      'src/control/core/rules/audit-changes.test.ts',
      'audit changes: at most so many fields and characters; a difference behind the cut is still one',
    ],
    ['test/control/audit-entries.test.ts', 'audit: the name of an object is cut after 256 characters'],
  ),
  elsewhere(
    'Several requests with one secret at once',
    'a code, a link and a recovery code are good once',
    ['src/control/auth/accounts/sign-up.test.ts', '20 uses of the right code at once: one is taken'],
    ['src/control/auth/accounts/sign-up.test.ts', '50 wrong codes at once burn the code at exactly five'],
    ['src/control/auth/accounts/password.test.ts', '20 uses of one link at once: one sets the password'],
    ['src/control/auth/mfa/login.test.ts', 'of 20 uses at once of one recovery code one succeeds'],
  ),
];
