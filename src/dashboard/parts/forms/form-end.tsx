/** The end of a form in a dialog: why it was refused, the way out, and the action. */
import { Alert, Button, Group } from '@mantine/core';
import { useHeld } from '../dialogs/one-time-secret.tsx';

interface FormEndProps {
  /** What the button says: the action itself, not "OK". */
  readonly action: string;
  readonly isBusy: boolean;
  /** What it needs is not there; the form says what. */
  readonly isBarred?: boolean;
  /** Of `showFaults`. */
  readonly refused?: string | undefined;
  readonly onClose: () => void;
}

export function FormEnd({ action, isBusy, isBarred = false, refused, onClose }: FormEndProps) {
  const isHeld = useHeld();
  return (
    <>
      <Refused>{refused}</Refused>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={isHeld} onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={isBusy} disabled={isBarred}>
          {action}
        </Button>
      </Group>
    </>
  );
}

/** Why a form was refused, where no field of it can show it. */
export function Refused({ children }: { readonly children: string | undefined }) {
  if (children === undefined) return null;
  return (
    <Alert color="red" role="alert" variant="light" className="culvert-wrap">
      {children}
    </Alert>
  );
}
