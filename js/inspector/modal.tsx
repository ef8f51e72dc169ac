/** A dialog above the page; Escape closes it. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import * as state from "./state.js";

export function Modal({
  title,
  children,
}: {
  title: string;
  children: ComponentChildren;
}): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    box.current?.showModal();
  }, []);
  const close = () => {
    state.dialog.value = "";
  };
  return (
    // `close` comes a task after Escape: a key that follows at once would still meet an open dialog.
    <dialog ref={box} aria-label={title} onCancel={close} onClose={close}>
      <header class="row-head">
        <h2>{title}</h2>
        <button type="button" class="close" aria-label="Close" onClick={close}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  );
}
