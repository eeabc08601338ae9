/** A row that is opened beside its list, by the address. */
import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';

/**
 * Which row of a list is open beside it: it stands in the address, so that a reload shows it again and Back closes it. The open one is reported on
 * while it closes.
 */
export interface Opened {
  /** Undefined until one was open for the first time. */
  readonly id: string | undefined;
  readonly isOpen: boolean;
  readonly open: (id: string) => void;
  readonly close: () => void;
}

/** `param`: of the address. */
export function useOpened(param: string): Opened {
  const [params, setParams] = useSearchParams();
  const said = params.get(param);
  const here = said === null || said === '' ? undefined : said;
  const [last, setLast] = useState(here);
  if (here !== undefined && here !== last) setLast(here);
  // Its entry of the history is this page's own: to close is to go back, so that Back does not pass the page twice.
  const isOwnEntry = useRef(false);
  useEffect(() => {
    if (here === undefined) isOwnEntry.current = false;
  }, [here]);
  return {
    id: here ?? last,
    isOpen: here !== undefined,
    open: (id) => {
      isOwnEntry.current = true;
      setParams((now) => changed(now, param, id));
    },
    close: () => {
      if (!isOwnEntry.current) return setParams((now) => changed(now, param), { replace: true });
      // Before it has gone back Escape may come once more, and would leave the page.
      isOwnEntry.current = false;
      history.back();
    },
  };
}

/** The filters of the list stay. */
function changed(params: URLSearchParams, name: string, value?: string): URLSearchParams {
  const next = new URLSearchParams(params);
  next.delete(name);
  if (value !== undefined) next.set(name, value);
  return next;
}
