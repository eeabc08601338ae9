/**
 * What the edge's codes and steps mean to whoever owns the tunnel, in a sentence each (the visitor reads another one, on the page). For
 * `culvert inspect`; a code of a newer server has none, and is shown as it is.
 */

const CODES: ReadonlyMap<string, string> = new Map([
  ['bad_request', 'not well-formed HTTP, or it could be read in more than one way'],
  ['budget_exhausted', "the key's budget of this month is spent: culvert tokens budget"],
  ['denied', 'a rule of the traffic policy does not let it in'],
  ['invalid_token', 'it had no JWT, or none that is valid here'],
  ['local_bad_response', 'what the service sent is no HTTP response'],
  ['local_closed', 'the service closed the connection before it answered'],
  ['local_timeout', 'the service did not answer in time'],
  ['local_unreachable', 'the service could not be reached: the output of the agent says why'],
  ['agent_lost', 'the connection to the agent broke while it worked on this'],
  ['loop_detected', 'the tunnel leads back to this server'],
  ['maintenance', 'the tunnel is in maintenance: its page was shown'],
  ['overloaded', 'too many requests were under way on the tunnel'],
  ['policy_failed', 'the traffic policy could not be applied: the log of the server says why'],
  ['rate_limited', 'more than the traffic policy lets pass in a minute'],
  ['sign_in', 'sent to the identity provider to sign in'],
  ['sign_in_failed', 'the sign-in did not come to its end, or the person is not on the list'],
  ['tunnel_offline', 'no agent served the tunnel'],
  ['unauthorized', "the tunnel's password was not given, or not the right one"],
]);

const STEPS: ReadonlyMap<string, string> = new Map([
  ['basic_gate', 'the password'],
  ['visitor_gate', 'the sign-in with an identity provider'],
  ['visitor_sign_in', 'the sign-in itself'],
]);

/** The sentence for a code; undefined: there is none. */
export function wordsOfCode(code: string): string | undefined {
  return CODES.get(code);
}

/** What is no action of a policy has a name that people know; the others have their own. */
export function nameOfStep(step: string): string {
  return STEPS.get(step) ?? step;
}
