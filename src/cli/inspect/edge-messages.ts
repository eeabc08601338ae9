/** Steps of the edge as `culvert inspect` names them; the texts of its codes: base/codes/edge-faults.ts. */

const STEPS: ReadonlyMap<string, string> = new Map([
  ['basic_gate', 'basic auth'],
  ['visitor_gate', 'visitor login'],
  ['webhook_verify', 'webhook signature'],
  ['visitor_sign_in', 'visitor login at the provider'],
]);

/** The name of a step for users; actions of a policy keep their own. */
export function nameOfStep(step: string): string {
  return STEPS.get(step) ?? step;
}
