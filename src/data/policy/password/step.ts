/** A tunnel's HTTP Basic gate as a step (RFC 7617): the last one of its chain, so that what is refused anyway costs no check. */
import type { EdgeRefusal } from '../../faults/fault.ts';
import type { Route } from '../../../plane/routes.ts';
import { authorizationLine } from './authorization.ts';
import type { BasicChecks, CheckResult } from './checks.ts';
import { credentialsIn } from './credentials.ts';
import type { PolicyRequest, Step, Verdict } from '../step.ts';

const BUSY: EdgeRefusal = {
  code: 'overloaded',
  detail: 'Too many passwords are being checked. Please try again in a moment.',
};

const WRONG = 'The user name or the password is wrong. Reload the page to try again.';

/** For so long the bytes that a connection showed before allow it again. */
const SHOWN_MS = 60_000;

export function basicStep(route: Route, checks: BasicChecks): Step {
  const gate = route.gate as NonNullable<Route['gate']>;
  const { orgId, tunnelId } = route;
  const fields = [`WWW-Authenticate: Basic realm="${route.subdomain}", charset="UTF-8"`];
  const refused: EdgeRefusal = { code: 'unauthorized', fields };
  const wrong: EdgeRefusal = { ...refused, detail: WRONG };
  const verdictOf = (result: CheckResult): Verdict => {
    if (result === 'fits') return null;
    if (result === 'wrong') return wrong;
    if (result === 'busy') return BUSY;
    return {
      code: 'rate_limited',
      detail: 'Too many wrong passwords came from your address. Please try again later.',
      fields: [`Retry-After: ${result.wait}`],
    };
  };
  const step: Step = {
    decide: ({ bytes, head, clientKey: address, nowMs, shown }: PolicyRequest) => {
      const line = authorizationLine(bytes, head);
      if (line < 0) return refused;
      const wait = checks.waitOf(tunnelId, address, nowMs);
      if (wait > 0) return verdictOf({ wait });
      if (shown.isKnown(step, bytes, head, line, nowMs)) return null;
      const credentials = credentialsIn(bytes, head, line);
      if (credentials === null) return refused;
      const result = checks.check({ orgId, tunnelId, gate, credentials, address, nowMs });
      if (result === 'fits') shown.keep(step, bytes, head, line, { untilMs: nowMs + SHOWN_MS, isOwn: false });
      return result instanceof Promise ? result.then(verdictOf) : verdictOf(result);
    },
  };
  return step;
}
