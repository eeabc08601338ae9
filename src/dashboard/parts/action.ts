/** An action of the user by the API: reports the result, and refetches the lists that it changes. */
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { failureFrom, isOtherByNow } from '../api/failure.ts';
import type { Undo } from './undo/undo.ts';
import { showUndo } from './undo/undo-notice.tsx';

interface ActionOptions<V, T> {
  readonly run: (input: V) => Promise<T>;
  /** What is said when it is done; leave out where the page shows it anyway. */
  readonly done?: string | ((result: T, input: V) => string);
  /** The way back (undoOf), offered for some seconds beside `done`. Undefined: there is none. */
  readonly undo?: (result: T, input: V) => Undo | undefined;
  /** Keys of queries that are out of date then, and once it was undone. */
  readonly touches?: ReadonlyArray<readonly unknown[]>;
  /** It is said that it is done once this has ended. */
  readonly onDone?: (result: T, input: V) => void | Promise<void>;
  /** The caller shows the failure itself (a form, a question): it is not said a second time. */
  readonly tellsFailure?: boolean;
}

export function useAction<V = void, T = unknown>({
  run,
  done,
  undo,
  touches = [],
  onDone,
  tellsFailure = false,
}: ActionOptions<V, T>) {
  const queries = useQueryClient();
  const refetch = () => Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey: [...queryKey] })));
  return useMutation<T, unknown, V>({
    mutationFn: run,
    // Input and result may be secrets: neither is kept once it is out of sight.
    gcTime: 0,
    onSuccess: async (result, input) => {
      await onDone?.(result, input);
      if (done !== undefined)
        sayWithUndo(typeof done === 'string' ? done : done(result, input), undo?.(result, input), refetch);
      await refetch();
    },
    onError: (error) => {
      if (!tellsFailure || isOtherByNow(error)) sayFailure(error);
    },
  });
}

/** A line that goes away by itself. */
export function say(message: string): void {
  notifications.show({ message, color: 'culvert', closeButtonProps: { 'aria-label': 'Dismiss' } });
}

/** `onEnd`: undone or not, the page shows what there is then. */
export function sayWithUndo(message: string, undo: Undo | undefined, onEnd?: () => Promise<unknown>): void {
  if (undo === undefined) return say(message);
  showUndo(message, () => {
    undo()
      .then(() => say('Undone.'), sayFailure)
      .then(onEnd, sayFailure);
  });
}

/** What has changed without the person's doing here; stays until it was read. */
export function sayNews(message: string): void {
  notifications.show({
    // One of a kind: what stays must not fill the places of what comes.
    id: `news: ${message}`,
    message,
    color: 'yellow',
    autoClose: false,
    role: 'alert',
    closeButtonProps: { 'aria-label': 'Dismiss' },
  });
}

/** Stays until it was read. */
export function sayFailure(error: unknown): void {
  const { message } = failureFrom(error);
  if (isOtherByNow(error)) return sayNews(message);
  notifications.show({
    message,
    color: 'red',
    autoClose: 10_000,
    role: 'alert',
    closeButtonProps: { 'aria-label': 'Dismiss' },
  });
}
