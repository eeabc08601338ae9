/** The confirmation before the subject of a page is deleted. It then leaves for the list. */
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useAction } from '../action.ts';
import { Confirm } from './confirm.tsx';

interface DeleteDialogProps<T> {
  /** "network" */
  readonly what: string;
  readonly name: string;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly run: () => Promise<T>;
  /** What is said then, other than that it is deleted. */
  readonly done?: (result: T) => string;
  /** The page of the list. */
  readonly list: string;
  /** Of the query of the list; that of the thing begins with it. */
  readonly listKey: QueryKey;
  readonly id: string;
  /** Other lists that are out of date then. */
  readonly touches?: ReadonlyArray<QueryKey>;
  /** What happens then. */
  readonly children: ReactNode;
}

export function DeleteDialog<T>(props: DeleteDialogProps<T>) {
  const { what, name, opened, onClose, children } = props;
  const remove = useDeletion(props);
  return (
    <Confirm
      title={`Delete the ${what} ${name}?`}
      action={`Delete ${what}`}
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={() => {
        remove.reset();
        onClose();
      }}
    >
      {children}
    </Confirm>
  );
}

function useDeletion<T>({ what, name, run, done, list, listKey, id, touches = [] }: DeleteDialogProps<T>) {
  const queries = useQueryClient();
  const [, go] = useLocation();
  return useAction({
    run,
    done: done ?? `Deleted ${what} ${name}.`,
    onDone: () => {
      // A user who has opened another page meanwhile stays there.
      if (location.pathname.endsWith(`/${id}`)) go(list);
      // Its page, still open, would show that there is none.
      queries.removeQueries({ queryKey: [...listKey, id] });
      void queries.invalidateQueries({ queryKey: listKey, exact: true });
    },
    touches,
    tellsFailure: true,
  });
}
