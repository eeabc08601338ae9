/**
 * The edge's codes and steps for owners of a tunnel, for `culvert inspect`. Visitors read the text on the fault page instead. A code of a newer
 * server has no message here and is shown as it is.
 */

const CODES: ReadonlyMap<string, string> = new Map([
  ['bad_request', 'the request is malformed or ambiguous'],
  ['budget_exhausted', 'the key has spent its monthly budget: culvert tokens budget'],
  ['denied', 'the policy blocked the request'],
  ['invalid_token', 'the JWT is missing or not valid'],
  ['local_bad_response', 'your service sent no valid HTTP response'],
  ['local_closed', 'your service closed the connection before it responded'],
  ['local_timeout', 'your service did not respond in time'],
  ['local_unreachable', "the agent can't connect to your service; its output has the reason"],
  ['agent_lost', 'the agent disconnected during the request'],
  ['loop_detected', 'the tunnel leads back to this server'],
  ['maintenance', 'the tunnel is in maintenance mode'],
  ['overloaded', 'too many requests were in flight on the tunnel'],
  ['policy_failed', 'the policy could not be applied; the server log has the reason'],
  ['rate_limited', 'over the rate limit of the policy'],
  ['sign_in', 'redirected to the login page'],
  ['sign_in_failed', 'the visitor did not complete the login, or is not on the list'],
  ['tunnel_offline', 'no agent was online'],
  ['unauthorized', 'the password was missing or wrong'],
]);

const STEPS: ReadonlyMap<string, string> = new Map([
  ['basic_gate', 'basic auth'],
  ['visitor_gate', 'visitor login'],
  ['visitor_sign_in', 'visitor login at the provider'],
]);

/** The message for a code; undefined for an unknown one. */
export function messageOfCode(code: string): string | undefined {
  return CODES.get(code);
}

/** The name of a step for users; actions of a policy keep their own. */
export function nameOfStep(step: string): string {
  return STEPS.get(step) ?? step;
}
