/** The authentication pages: password, second factor, identity provider, a new account, a forgotten password. One step is shown at a time. */
import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useAuthOptions } from '../../api/auth-options.ts';
import { useApi, useSessionState } from '../../api/context.tsx';
import { FailureAlert } from '../../parts/loaded.tsx';
import type { Arrival } from '../../place.ts';
import { ConfirmStep, SignUpStep } from './sign-up-step.tsx';
import { LinkButton } from './fields.tsx';
import { ForgotStep, SentStep } from './forgot-step.tsx';
import { Providers } from './providers.tsx';
import { SecondStep, SignInStep } from './login-step.tsx';
import { type Addressed, addressedStep, type Place, placeAt } from './step-address.ts';
import { type AuthFlow, type HeadingOrder, Step } from './step.tsx';

interface StepAddress {
  readonly step: Addressed | undefined;
  readonly goTo: (step: Addressed | undefined) => void;
}

interface AuthStepsProps {
  readonly arrival: Arrival;
  readonly title: string;
  readonly order: HeadingOrder;
  /** Where an identity provider sends the browser back to: a path of the server. */
  readonly returnTo: string;
  /** The address of a new account was confirmed: right before it is logged in. */
  readonly onConfirmed?: () => void;
  /** Where the whole page is about logging in: its steps have addresses. */
  readonly address?: StepAddress;
  /** The invited address: the user chooses between a new account and logging in, and need not type it. */
  readonly invited?: string;
}

export function AuthSteps({ arrival, title, order, returnTo, onConfirmed, address, invited }: AuthStepsProps) {
  const { session } = useApi();
  const { state } = useSessionState();
  const [email, setEmail] = useState(invited ?? '');
  const first: Place = { step: invited === undefined ? 'login' : 'choice' };
  const [last, setPlace] = useState<Place>(() => {
    if (arrival.mfaChallenge !== undefined) return { step: 'second', challenge: arrival.mfaChallenge };
    return state === 'over' ? { step: 'login', problem: 'Your session ended. Log in again.' } : first;
  });
  const go: AuthFlow['go'] = (next) => {
    arrival.forgetChallenge();
    setPlace(next);
    address?.goTo(addressedStep(next));
  };
  const place = address === undefined ? last : placeAt(address.step, last);
  const flow: AuthFlow = {
    order,
    email,
    setEmail,
    go,
    goOn: (answer) => {
      if ('mfa_required' in answer) return go({ step: 'second', challenge: answer.challenge_token });
      arrival.forgetChallenge();
      session.enter(answer.access_token);
    },
  };
  const back = <LinkButton onClick={() => go(first)}>{invited === undefined ? 'Back to login' : 'Back'}</LinkButton>;
  switch (place.step) {
    case 'choice':
      return <ChoiceStep flow={flow} invited={invited ?? email} returnTo={returnTo} />;
    case 'login':
      return (
        <SignInStep
          key={place.problem}
          flow={flow}
          title={title}
          problem={place.problem}
          returnTo={returnTo}
          back={invited === undefined ? undefined : back}
        />
      );
    case 'second':
      return <SecondStep flow={flow} challenge={place.challenge} back={back} />;
    case 'sign-up':
      return <SignUpStep flow={flow} back={back} />;
    case 'confirm':
      return <ConfirmStep flow={flow} password={place.password} onConfirmed={onConfirmed} back={back} />;
    case 'forgot':
      return <ForgotStep flow={flow} title="Forgot password" problem={place.problem} back={back} />;
    case 'sent':
      return <SentStep flow={flow} back={back} />;
  }
}

interface ChoiceStepProps {
  readonly flow: AuthFlow;
  readonly invited: string;
  readonly returnTo: string;
}

/** Offers a new account and logging in alike: most invited users have no account yet. */
function ChoiceStep({ flow, invited, returnTo }: ChoiceStepProps) {
  const options = useAuthOptions();
  const isOpen = options.data?.signup === 'open';
  return (
    <Step title="Do you have an account here?" order={flow.order}>
      <Text size="sm" className="culvert-wrap">
        The invitation is only for <strong>{invited}</strong>.
        {options.data?.signup === 'closed' &&
          ' Operators of this server create accounts. If you have none, ask an operator for one.'}
      </Text>
      {options.isError && <FailureAlert error={options.error} again={options.refetch} />}
      <Stack gap="xs">
        {isOpen && (
          <Button size="md" onClick={() => flow.go({ step: 'sign-up' })}>
            Create account
          </Button>
        )}
        <Button size="md" onClick={() => flow.go({ step: 'login' })}>
          Log in
        </Button>
      </Stack>
      <Providers providers={options.data?.providers} returnTo={returnTo} />
    </Step>
  );
}
