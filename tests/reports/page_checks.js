"use strict"; // what tests evaluate in a page

/** What is wider than the page, but for what scrolls by itself; text that is wider than its plot. */
function stickingOut() {
  const within = (element, around) => {
    const [inner, outer] = [element, around].map((each) => each.getBoundingClientRect());
    return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
  };
  const parts = [...document.querySelectorAll("body, body :not(.wide *, pre *, svg *)")];
  const texts = [...document.querySelectorAll("figure svg text")];
  return [
    ...parts.filter((each) => each.checkVisibility() && !within(each, document.documentElement)),
    ...texts.filter((each) => !within(each, each.ownerSVGElement)),
  ].map((each) => each.outerHTML.slice(0, 300));
}

/** The contrast of each text, and of what plots draw, with what is behind it; and the least of WCAG AA. */
function contrasts() {
  const found = [];
  const add = (text, colour, element, least) =>
    found.push({ text: text.trim().slice(0, 60), colour, least, contrast: contrast(colour, behind(element)) });
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent;
    const element = walker.currentNode.parentElement;
    if (!text.trim() || !element.checkVisibility() || element.closest("script, style, option")) continue;
    const { color, fill, fontSize, fontWeight } = getComputedStyle(element);
    const size = parseFloat(fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
    add(text, element.closest("svg") ? fill : color, element, isLarge ? 3 : 4.5);
  }
  for (const mark of document.querySelectorAll(".plots svg use, .plots svg path, #query-scatter circle")) {
    const { fill, stroke } = getComputedStyle(mark);
    const colour = stroke === "none" ? fill : stroke;
    if (!mark.closest("defs") && colour !== getComputedStyle(document.body).backgroundColor && !isGrid(mark)) {
      add(mark.parentElement.outerHTML, colour, mark, 3);
    }
  }
  return found;
}

function contrast(colour, back) {
  const [low, high] = [luminance(over(parsed(colour), back)), luminance(back)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The colour behind the content of an element, of all backgrounds of the elements it stands in. */
function behind(element) {
  if (!element) return [255, 255, 255];
  return over(parsed(getComputedStyle(element).backgroundColor), behind(element.parentElement));
}

/** Red, green, blue and opacity of a colour as browsers compute it; "none" has no opacity. */
function parsed(colour) {
  const [red = 0, green = 0, blue = 0, alpha] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue, alpha ?? (colour === "none" ? 0 : 1)];
}

function over([red, green, blue, alpha], back) {
  return [red, green, blue].map((part, number) => alpha * part + (1 - alpha) * back[number]);
}

function luminance(colour) {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function isGrid(mark) {
  return (mark.getAttribute("style") ?? "").includes("--grid") || parsed(getComputedStyle(mark).fill)[3] === 0 && getComputedStyle(mark).stroke === "none";
}
