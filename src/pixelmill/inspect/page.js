// The page works without this: it adds Escape and the arrow keys for enlarged pictures.
addEventListener("keydown", (event) => {
  const shown = document.querySelector("figure:target");
  if (!shown) return;
  if (event.key === "Escape") {
    location.hash = "-";
    shown.querySelector(".open")?.focus({ preventScroll: true });
  }
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  const all = [...document.querySelectorAll("figure:has(.open)")];
  const next = all[all.indexOf(shown) + step];
  if (next) location.hash = next.id;
});
