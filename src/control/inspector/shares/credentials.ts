/** What is masked in a request that was shared: credentials, by the names that they usually have, and addresses of visitors. */
import type { InspectedRequest } from '../../../plane/inspection.ts';
import { readJsonPath } from '../masking/json-path.ts';
import { maskRecord } from '../masking/mask-record.ts';
import type { MaskRules, Names } from '../masking/rules.ts';

const SECRET =
  /auth|cookie|token|secret|passw|passphrase|credential|session|jwt|signature|api[-_]?key|(^|[-_.])(key|sig|pin|otp|code|pwd)$/;
/** Of the visitor. */
const ADDRESS =
  /^(forwarded|via|x-forwarded-for|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip|culvert-visitor-email)$/;

const named = (...patterns: readonly RegExp[]): Names => ({
  size: 1,
  has: (name) => patterns.some((pattern) => pattern.test(name)),
});

const FIELDS = [
  ...[
    'password',
    'passwd',
    'secret',
    'token',
    'access_token',
    'refresh_token',
    'id_token',
    'accessToken',
    'refreshToken',
  ],
  ...['api_key', 'apiKey', 'apikey', 'client_secret', 'clientSecret', 'private_key', 'privateKey', 'authorization'],
];

const RULES: MaskRules = {
  headers: named(SECRET, ADDRESS),
  queries: named(SECRET),
  forms: named(SECRET),
  paths: FIELDS.flatMap((name) => {
    const path = readJsonPath(`$..${name}`);
    return path === undefined ? [] : [{ name, path }];
  }),
};

/** The record as a reader without an account may see it. */
export function withoutCredentials(record: InspectedRequest): InspectedRequest {
  return maskRecord(record, RULES);
}
