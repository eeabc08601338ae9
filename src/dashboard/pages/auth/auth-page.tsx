/** The page of signed-out users at every address of the dashboard; after logging in, the page they wanted is there. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Arrival } from '../../place.ts';
import { Frame } from './frame.tsx';
import { stepAt, STEP_PATHS } from './step-address.ts';
import { AuthSteps } from './auth-steps.tsx';

const TITLES = { 'sign-up': 'Create account', forgot: 'Forgot password', confirm: 'Confirm your email' } as const;

export function AuthPage({ arrival }: { readonly arrival: Arrival }) {
  const [path, navigate] = useLocation();
  const step = stepAt(path);
  const [wanted, setWanted] = useState('/');
  const here = `${path}${location.search}`;
  if (step === undefined && here !== wanted) setWanted(here);
  return (
    <Frame title={step === undefined ? 'Log in' : TITLES[step]}>
      <AuthSteps
        arrival={arrival}
        title="Log in"
        order={1}
        returnTo={`/app${wanted}`}
        onConfirmed={() => navigate('/', { replace: true })}
        address={{
          step,
          goTo: (next) => {
            if (next !== step) navigate(next === undefined ? wanted : STEP_PATHS[next]);
          },
        }}
      />
    </Frame>
  );
}
