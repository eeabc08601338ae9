/** The frame of an authentication step, its state, and its form. The focus begins at the first field, or at the title where there is none. */
import { Alert, Box, Stack, Text, Title } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconAlertTriangle } from '@tabler/icons-react';
import { type ReactNode, type SubmitEvent, useEffect, useRef, useState } from 'react';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { showFaults } from '../../parts/forms/form-failure.ts';
import type { Place } from './step-address.ts';

/** Of the headings: 1 where nothing else on the page says what it is about. */
export type HeadingOrder = 1 | 2;

interface StepProps {
  readonly title: string;
  readonly order: HeadingOrder;
  /** What went wrong. */
  readonly problem?: string | undefined;
  /** For a form; without it nothing can be sent. */
  readonly onSubmit?: (event: SubmitEvent<HTMLFormElement>) => void;
  readonly children: ReactNode;
}

export function Step({ title, order, problem, onSubmit, children }: StepProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => focusFirst(box.current), []);
  const inside = (
    <Stack gap="md">
      <Title order={order} size={order === 1 ? 'h3' : 'h4'}>
        {title}
      </Title>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {children}
    </Stack>
  );
  return (
    <Box ref={box} tabIndex={-1} className="culvert-auth-step">
      {onSubmit === undefined ? (
        inside
      ) : (
        // Without the script a form that says GET would send a password in the address.
        <form method="post" onSubmit={onSubmit}>
          {inside}
        </form>
      )}
    </Box>
  );
}

/** What went wrong, read out at once. */
export function Problem({ children }: { readonly children: string }) {
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} role="alert">
      <Text size="sm" className="culvert-wrap">
        {children}
      </Text>
    </Alert>
  );
}

function focusFirst(box: HTMLElement | null): void {
  if (box === null) return;
  const fields = [...box.querySelectorAll('input')];
  (fields.find((field) => field.value === '') ?? fields[0] ?? box).focus();
}

/** State of an authentication, and how its steps lead to one another (auth-steps.tsx). Secrets stay in the step that needs them. */
export type LogIn = Schemas['LoginResult'] | Schemas['MfaRequired'];

/** What every step is given. */
export interface AuthFlow {
  readonly order: HeadingOrder;
  /** Shared by all steps, so that it is typed once. */
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly go: (place: Place) => void;
  /** With the answer to a login: in, or to the second factor. */
  readonly goOn: (answer: LogIn) => void;
}

interface StepOptions<V extends object, T> {
  readonly form: UseFormReturnType<V>;
  readonly run: (values: V) => Promise<T>;
  readonly onDone: (result: T, values: V) => void;
  /** Said before anything was sent. */
  readonly problem?: string | undefined;
}

/** A form that sends one request: what is wrong stands at its field, and the rest above the form. */
export function useStep<V extends object, T>({ form, run, onDone, problem: first }: StepOptions<V, T>) {
  const [problem, setProblem] = useState(first);
  const action = useAction({ run, onDone, tellsFailure: true });
  const onSubmit = form.onSubmit((values) => {
    setProblem(undefined);
    action.mutate(values, { onError: (error) => setProblem(showFaults(form, error)) });
  });
  return { onSubmit, problem, isBusy: action.isPending };
}
