/**
 * A tunnel's visitor gate as a step: the last of its chain. It accepts a pass that was made for this tunnel, host and version, unless
 * a page of another site makes the browser show it.
 */
import type { EdgeRefusal } from '../../faults/fault.ts';
import type { PolicyRequest, Step, Verdict } from '../step.ts';
import { BROWSER_COOKIE, cookiesNamed, PASS_COOKIE, randomsIn } from './cookies.ts';
import type { KnownVisitor, VisitorPasses } from './passes.ts';
import { hostOf, isOfBrowser } from './request.ts';
import { type GatedRoute, SignIn } from './sign-in.ts';

const SEVERAL: EdgeRefusal = {
  code: 'sign_in_failed',
  detail:
    'Your browser sent login cookies of two different users. Delete the cookies of this site and of its parent domains, then open it again.',
};

export function visitorStep(route: GatedRoute, passes: VisitorPasses): Step {
  const signIn = new SignIn(route, passes);
  return {
    decide: (request: PolicyRequest): Verdict => {
      if (signIn.mustBeHttps(request)) return signIn.plainRefusal(request);
      const others = signIn.othersRefusal(request);
      if (others !== null) return others;
      const visitor = visitorOf(request, { route, passes });
      if (visitor === 'several') return SEVERAL;
      if (visitor === null) return signIn.refusal(request);
      request.visitorLine = visitor.line;
      return null;
    },
  };
}

/** Who the pass of this request names. */
export function visitorOf(
  request: PolicyRequest,
  { route, passes }: { route: GatedRoute; passes: VisitorPasses },
): KnownVisitor | null | 'several' {
  const words = cookiesNamed(request.bytes, request.head, PASS_COOKIE);
  if (words.length === 0) return null;
  const { tunnelId, visitorGate } = route;
  const place = { tunnelId, version: visitorGate.version, host: hostOf(request) };
  return passes.find(words, place, { browsers: randomsIn(request, BROWSER_COOKIE), isBrowser: isOfBrowser(request) });
}
