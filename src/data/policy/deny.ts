/** `deny`: requests for paths that begin with a prefix. */
import type { DenyAction } from '../../plane/policy.ts';
import type { EdgeRefusal } from '../edge/refusal.ts';
import { PathRule } from './path-rule.ts';
import type { PolicyRequest, Step } from './step.ts';

const DENIED: EdgeRefusal = { code: 'denied' };

export function denyStep({ pathPrefix }: DenyAction): Step {
  const rule = new PathRule(pathPrefix);
  return {
    decide: ({ bytes, head }: PolicyRequest) => (rule.matches(bytes, head.pathStart, head.targetEnd) ? DENIED : null),
  };
}
