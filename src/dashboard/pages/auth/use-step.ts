/** A form that sends one request: what is wrong stands at its field, and the rest above the form. */
import type { UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import { useAction } from '../../parts/action.ts';
import { showFaults } from '../../parts/form-failure.ts';

interface StepOptions<V extends object, T> {
  readonly form: UseFormReturnType<V>;
  readonly run: (values: V) => Promise<T>;
  readonly onDone: (result: T, values: V) => void;
  /** Said before anything was sent. */
  readonly problem?: string | undefined;
}

export function useStep<V extends object, T>({ form, run, onDone, problem: first }: StepOptions<V, T>) {
  const [problem, setProblem] = useState(first);
  const action = useAction({ run, onDone, tellsFailure: true });
  const onSubmit = form.onSubmit((values) => {
    setProblem(undefined);
    action.mutate(values, { onError: (error) => setProblem(showFaults(form, error)) });
  });
  return { onSubmit, problem, isBusy: action.isPending };
}
