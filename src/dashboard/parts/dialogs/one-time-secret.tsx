/**
 * Dialogs whose action answers with something that is shown only once: a key, a password, recovery codes, a config with its private key. While the action
 * is under way, and while that is on the screen, no Escape, no click beside it and no X closes them: it would be lost, and the action done. What is
 * shown stands in a `OneTimeSecret`; the dialog then ends with "Done", which alone closes it.
 */
import { Button, Group, Modal, type ModalProps, Stack } from '@mantine/core';
import { useIsMutating } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';

interface Held {
  /** The action is under way: its answer must find the dialog open. */
  readonly isBusy: boolean;
  readonly setShown: (isShown: boolean) => void;
}

/** Outside of such a dialog, as on the page of the first tunnel, nothing is held. */
const HeldContext = createContext<Held>({ isBusy: false, setShown: () => {} });

/** For the button that leaves the form: whether it must wait for the action. */
export function useHeld(): boolean {
  return useContext(HeldContext).isBusy;
}

/** For what is shown once and is no `OneTimeSecret`: says so to the dialog around it, if there is one. */
export function useShown(isShown: boolean): void {
  const { setShown } = useContext(HeldContext);
  useEffect(() => {
    setShown(isShown);
    return () => setShown(false);
  }, [isShown, setShown]);
}

interface OneTimeSecretModalProps extends Pick<ModalProps, 'opened' | 'onClose' | 'title' | 'size' | 'children'> {
  /** Null where the content has a button of its own that closes the dialog. */
  readonly kept?: string | null;
  /** When it is out of sight: what it showed can be forgotten, and no form is seen while it fades. */
  readonly onGone?: () => void;
}

export function OneTimeSecretModal({ onClose, onGone, kept = 'Done', children, ...rest }: OneTimeSecretModalProps) {
  const [isShown, setShown] = useState(false);
  // Of the whole page: the only action that can be begun is the dialog's.
  const isBusy = useIsMutating() > 0;
  const held = useMemo(() => ({ isBusy, setShown }), [isBusy]);
  return (
    <Modal
      {...rest}
      onClose={() => {
        if (!isShown && !isBusy) onClose();
      }}
      {...(onGone === undefined ? {} : { onExitTransitionEnd: onGone })}
      closeOnClickOutside={false}
      withCloseButton={!isShown}
      closeButtonProps={{ 'aria-label': 'Close', disabled: isBusy }}
    >
      <HeldContext value={held}>{children}</HeldContext>
      {isShown && kept !== null && (
        <Group justify="flex-end" mt="md">
          <Button onClick={onClose}>{kept}</Button>
        </Group>
      )}
    </Modal>
  );
}

interface OneTimeSecretProps {
  /** What is shown, for screen readers: the focus comes here when there is nothing to copy. */
  readonly label: string;
  readonly children: ReactNode;
}

/** Takes the focus when it appears, for the button that led to it has gone: to its first button, which copies, else to itself. */
export function OneTimeSecret({ label, children }: OneTimeSecretProps) {
  const box = useRef<HTMLDivElement>(null);
  useShown(true);
  useEffect(() => {
    const buttons = box.current?.querySelectorAll<HTMLElement>('.culvert-copy button') ?? [];
    const seen = [...buttons].find((button) => button.offsetParent !== null);
    (seen ?? box.current)?.focus();
  }, []);
  return (
    <Stack ref={box} tabIndex={-1} role="group" aria-label={label} className="culvert-quiet">
      {children}
    </Stack>
  );
}
