/** A server with a tunnel `shop` whose visitors are asked who they are, and the service behind it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { AskedNarrowing } from '../../src/wire/narrowing.ts';
import { type Culvert, startCulvert, startOrigin } from '../harness.ts';
import { type Ends, inReverse } from '../harness/ends.ts';
import { type Oidc, startOidc } from '../harness/oidc.ts';

/** The public address is that of the https listener. */
export const HTTPS = 'public_url = ""';

type Lists = { allowed_domains?: readonly string[]; allowed_emails?: readonly string[] };

export interface VisitorFixture {
  readonly culvert: Culvert;
  /** Public address of `shop`. */
  readonly url: string;
  /** Where the gate of a tunnel is in the API. */
  gateOf(subdomain: string): Promise<string>;
  put(lists: Lists, subdomain?: string): Promise<void>;
  /** Another tunnel to the same service. */
  publish(subdomain: string, narrow?: AskedNarrowing): Promise<string>;
  /** What the service got, newest last. */
  readonly asked: Array<Record<string, unknown>>;
}

export async function visitorFixture(t: Ends, settings: string, edge = ''): Promise<VisitorFixture> {
  const culvert = await startCulvert(t, settings, edge);
  const asked: VisitorFixture['asked'] = [];
  const origin = await startOrigin(t, (request, response) => {
    asked.push(request.headers);
    response.setHeader('content-type', 'text/html');
    response.end(`hello from ${request.url}`);
  });
  const publish: VisitorFixture['publish'] = async (subdomain, narrow) =>
    (await culvert.publish('http', origin.port, { subdomain, ...(narrow === undefined ? {} : { narrow }) })).url;
  const gateOf = async (subdomain: string): Promise<string> => {
    const all = (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<Record<string, string>>;
    return `/tunnels/${all.find((one) => one['subdomain'] === subdomain)?.['id'] ?? assert.fail(subdomain)}/edge-auth`;
  };
  const put = async (lists: Lists, subdomain = 'shop'): Promise<void> => {
    const { status, body } = await culvert.account.call('PUT', await gateOf(subdomain), lists);
    assert.equal(status, 200, JSON.stringify(body));
  };
  return { culvert, url: await publish('shop'), gateOf, put, publish, asked };
}

/** The same with a real OpenID provider, which knows three people. */
export async function oidcFixture(context: TestContext, edge = ''): Promise<VisitorFixture & { oidc: Oidc }> {
  const t = inReverse(context);
  const oidc = await startOidc(t);
  oidc.people.set('ann', { email: 'Ann@Example.com', email_verified: true });
  oidc.people.set('bob', { email: 'bob@elsewhere.example', email_verified: true });
  oidc.people.set('eve', { email: 'eve@example.com', email_verified: false });
  const made = await visitorFixture(t, oidc.settings, edge);
  oidc.register(`${made.culvert.server.apiUrl}/edge-auth/callback`);
  return { ...made, oidc };
}
