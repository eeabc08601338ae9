/** The bytes of a body with their codings undone. */
import { useEffect, useMemo, useState } from 'react';
import { bytesOf } from './bytes.ts';
import { type Opened, openCodings } from './codings.ts';

export interface Packed {
  readonly base64: string;
  /** The header as it came; empty: there is none. */
  readonly coding: string;
}

/** Undefined for the moment in which the browser undoes the codings. */
export function useOpened({ base64, coding }: Packed): Opened | undefined {
  const plain = useMemo(() => ({ bytes: bytesOf(base64), undone: [] }), [base64]);
  const [opened, setOpened] = useState<Opened>();
  useEffect(() => {
    if (coding === '') return;
    let isGone = false;
    const take = (found: Opened): void => {
      if (!isGone) setOpened(found);
    };
    openCodings(plain.bytes, coding).then(take, () => take({ ...plain, remark: 'The body could not be decoded.' }));
    return () => {
      isGone = true;
      setOpened(undefined);
    };
  }, [plain, coding]);
  return coding === '' ? plain : opened;
}
