/** A tunnel's HTTP Basic gate as a step (RFC 7617): the last one of its chain, so that what is refused anyway costs no check. */
import { addressKey } from '../edge/admission.ts';
import type { EdgeRefusal } from '../edge/refusal.ts';
import type { Route } from '../../plane/routes.ts';
import type { BasicChecks, CheckResult } from './basic-checks.ts';
import { credentialsIn } from './basic-credentials.ts';
import type { PolicyRequest, Step, Verdict } from './step.ts';

const BUSY: EdgeRefusal = {
  code: 'overloaded',
  detail: 'Too many passwords are being checked. Please try again in a moment.',
};

export function basicStep(route: Route, checks: BasicChecks): Step {
  const gate = route.gate as NonNullable<Route['gate']>;
  const { tunnelId } = route;
  const fields = [`WWW-Authenticate: Basic realm="${route.subdomain}", charset="UTF-8"`];
  const refused: EdgeRefusal = { code: 'unauthorized', fields };
  const verdictOf = (result: CheckResult): Verdict => {
    if (result === 'fits') return null;
    if (result === 'wrong') return refused;
    if (result === 'busy') return BUSY;
    return {
      code: 'rate_limited',
      detail: 'Too many wrong passwords came from your address. Please try again later.',
      fields: [`Retry-After: ${result.wait}`],
    };
  };
  return {
    decide: ({ bytes, head, clientIp, nowMs }: PolicyRequest) => {
      const credentials = credentialsIn(bytes, head);
      if (credentials === null) return refused;
      const result = checks.check({ tunnelId, gate, credentials, address: addressKey(clientIp), nowMs });
      return result instanceof Promise ? result.then(verdictOf) : verdictOf(result);
    },
  };
}
