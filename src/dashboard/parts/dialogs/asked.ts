/**
 * Which row of a list a dialog is about. One dialog serves all rows, and what it showed stays while it closes. It must be drawn closed from
 * the start: a dialog that appears open can't return the focus.
 */
import { useState } from 'react';

export interface Asked<T> {
  /** Undefined until the dialog is opened for the first time. */
  readonly row: T | undefined;
  readonly opened: boolean;
  readonly ask: (row: T) => void;
  readonly close: () => void;
}

export function useAsked<T>(): Asked<T> {
  const [{ row, opened }, set] = useState<{ row: T | undefined; opened: boolean }>({ row: undefined, opened: false });
  return {
    row,
    opened,
    ask: (next) => set({ row: next, opened: true }),
    close: () => set({ row, opened: false }),
  };
}
