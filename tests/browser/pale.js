// Words that do not stand out against what is behind them: a contrast below 4.5 to 1.
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const part = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = ([red, green, blue]) => 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const found = getComputedStyle(node).backgroundColor;
      if (found !== "rgba(0, 0, 0, 0)") return found;
    }
    return "white";
  };
  const speaks = (node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  return [...document.querySelectorAll("main *, header *, nav *")]
    .filter((node) => speaks(node) && node.checkVisibility() && !node.closest("svg, .stale, :disabled, .unseen"))
    .map((node) => {
      const [one, two] = [light(colour(getComputedStyle(node).color)), light(colour(behind(node)))];
      return [(Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05), node.textContent.trim().slice(0, 40)];
    })
    .filter(([ratio]) => ratio < 4.5)
    .slice(0, 5);
}
